/* SPDX-License-Identifier: MIT */
/* report_fixture document|agent|long|twins: prints a made-up profile, whose figures test_report.py
 * knows.
 */
#include "report_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW_NS 100000000000ull

static struct ez_uuid id_of(uint8_t n)
{
	struct ez_uuid id = {{0}};

	id.bytes[15] = n;
	return id;
}

static struct ezprof_row row(uint32_t kind, uint32_t index, uint8_t own, uint8_t publisher,
			     uint8_t channel)
{
	struct ezprof_row r = {.pid = 4242, .registry = 1};

	r.endpoint.kind = kind;
	r.endpoint.index = index;
	r.endpoint.generation = 1;
	r.endpoint.num_buffers = 8;
	r.endpoint.opened_ns = 1000 + index;
	r.endpoint.id = id_of(own);
	r.endpoint.publisher_id = id_of(publisher);
	r.endpoint.channel_id = id_of(channel);
	r.endpoint.subscriber_id = id_of(own);
	r.endpoint.topic = "A/\"OUT\"\n\xef\xbf\xbd";
	r.endpoint.handle = "";
	r.endpoint.task = "";
	r.endpoint.totals.stable = true;
	r.window.requested_ns = 2000000000;
	r.window.covered_ns = 2000000000;
	r.window.begin_ns = NOW_NS - 2000000000;
	r.window.end_ns = NOW_NS;
	r.loss = (struct ezprof_loss){.known = true, .exact = true};
	return r;
}

static struct ezprof_row publisher(void)
{
	struct ezprof_row r = row(EZ_KIND_PUBLISHER, 0, 1, 1, 0);

	r.endpoint.totals.messages = 10007;
	r.endpoint.totals.bytes = 30021;
	r.endpoint.totals.blocked_ns = 5000000;
	r.endpoint.totals.blocked_since_ns = NOW_NS - 3000000;
	r.window.messages = 2001;
	r.window.bytes = 6003;
	r.window.measured_messages = 5000;
	r.window.measured_bytes = 15000;
	r.window.blocked_ns = 500000000;
	r.window.unmatched = 2;
	r.loss.lost = 7;
	return r;
}

static struct ezprof_row link_row(uint32_t index, uint8_t channel, uint64_t max_ns)
{
	struct ezprof_row r = row(EZ_KIND_LINK, index, channel, 1, channel);

	r.endpoint.peer_pid = 99;
	r.endpoint.totals.leases = 12;
	r.endpoint.totals.frees = 10;
	r.endpoint.totals.disconnect_frees = 1;
	r.endpoint.totals.transport = EZ_TRANSPORT_SHM;
	r.endpoint.oldest_lease_ns = NOW_NS - 1000000 * index;
	r.window.interval[EZ_LINK_LEASE] = (struct ezprof_interval){4, 8000000, max_ns};
	return r;
}

static struct ezprof_row client(uint32_t index, uint8_t own, uint64_t leases)
{
	struct ezprof_row r = row(EZ_KIND_CLIENT, index, own, 1, 5);

	r.endpoint.handle = "handle";
	r.endpoint.task = "task";
	r.endpoint.totals.leases = leases;
	r.endpoint.totals.drops = 1;
	r.window.warming_up = true;
	r.loss.known = own == 20;
	return r;
}

int main(int argc, char **argv)
{
	static const struct ezprof_attached attached = {4242, "d\xc3", 12345, EZPROF_TARGET_EXITED,
							NOW_NS - 1};
	static const struct ezprof_fault fault = {4243, EZPROF_REASON_HOSTILE, "not a registry"};
	struct ezprof_row rows[] = {
		client(6, 21, 3),
		link_row(2, 6, 5000000),
		client(5, 20, 1),
		publisher(),
		link_row(1, 5, 2500000),
		row(EZ_KIND_CHANNEL, 4, 5, 1, 5),
		/* orphans: their owners are not there, or in another registry */
		row(EZ_KIND_CLIENT, 7, 30, 1, 77),
		row(EZ_KIND_LINK, 8, 31, 88, 31),
	};
	struct ezprof_profile profile = {
		.window_ns = 2000000000,
		.now_ns = NOW_NS,
		.unix_s = 1.5,
		.host = "host",
		.rows = rows,
		.row_count = sizeof(rows) / sizeof(rows[0]),
		.attached = &attached,
		.attached_count = 1,
		.faults = &fault,
		.fault_count = 1,
		.agent_pid = 17,
		.losses = {[EZ_LOSS_NO_SLOT] = 7},
		.cost = {.hits = 5, .hits_per_s = -1, .ns_per_hit = 900.5, .agent_cpu_share = 0.25},
	};
	char *text;

	rows[6].registry = 2;
	if (argc > 1 && strcmp(argv[1], "long") == 0) {
		profile.window_ns = 30000000000;
		for (size_t i = 0; i < profile.row_count; i++)
			rows[i].window.requested_ns = profile.window_ns;
	}
	if (argc > 1 && strcmp(argv[1], "twins") == 0) {
		rows[6] = publisher();
		rows[6].endpoint.opened_ns++;
		rows[6].endpoint.index = 9;
		rows[6].loss.lost = UINT64_MAX;
	}
	ezprof_profile_sort(&profile);
	text = argc > 1 && strcmp(argv[1], "agent") == 0 ? ezprof_report_agent(&profile)
							 : ezprof_report_document(&profile);
	if (!text)
		return 1;
	puts(text);
	free(text);
	return 0;
}
