/* SPDX-License-Identifier: MIT */
/*
 * Two programs overlap on one CPU wherever they can: one is stopped at each of its steps in turn
 * (stops.bpf.h), another one runs from beginning to end, the first goes on. What both counted is
 * exact. Built with EZ_TEST_UNPROTECTED it has to be wrong, or these tests would see nothing.
 * The process that is measured is this one, by probes that it fires itself.
 */
#include "fold.h"
#include "link_closer.h"
#include "player.h"
#include "probes.h"
#include "registry_layout.h"
#include "require.h"
#include "stop_loader.h"
#include "window_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_NUMBER 1u
#define PAGE EZ_PAGE_BYTES
#define ENDPOINTS 512
#define WAIT_MS 20000

#ifdef EZ_TEST_UNPROTECTED
#define EXPECT_WRONG true
#else
#define EXPECT_WRONG false
#endif

/* One probe, to be fired by a thread of its own. */
struct hit {
	uint64_t endpoint, bytes; /* of a publish; or */
	const void *page;	  /* the bucket to hand over */
	uint64_t id;
	int done_fd;
};

struct stage {
	struct ezprof_bpf *bpf;
	struct ezprof_maps *maps;
	struct ezprof_buckets *buckets;
	int link_fds[2][EZPROF_LINKS_MAX];
	uint32_t link_counts[2];
	uint64_t from_id, attached_ns;
	int fault_fd;
	char *plain, *missing; /* two pages, one after the other; nobody has the second */
};

static struct stage stage;

static void attach(enum ezprof_path path, uint32_t first, uint32_t end, unsigned int n)
{
	struct ezprof_link_request request = {.pid = getpid(),
					      .program_fd = ezprof_bpf_path_fd(stage.bpf, path),
					      .uprobe_multi = ezprof_bpf_uprobe_multi(stage.bpf)};
	struct ezprof_elf elf;
	int err;

	request.object_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_true(request.object_fd >= 0);
	assert_int_equal(ezprof_elf_read(request.object_fd, &elf), 0);
	for (uint32_t i = 0; i < elf.site_count; i++) {
		if (elf.sites[i].probe < first || elf.sites[i].probe >= end)
			continue;
		request.sites[request.site_count++] = (struct ezprof_link_site){
			.offset = elf.sites[i].offset,
			.semaphore_offset = elf.sites[i].semaphore_offset,
			.cookie = EZ_COOKIE(FILE_NUMBER, elf.sites[i].probe)};
	}
	err = ezprof_links_create(&request, stage.link_fds[n], &stage.link_counts[n]);
	if (err)
		fail_msg("link: %s", strerror(-err));
	close(request.object_fd);
}

/* Whoever touches the second page is stopped until it is provided. */
static void set_up_faults(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register region = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	stage.fault_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (stage.fault_fd < 0)
		ez_skip("EZPROF_REQUIRE_BPF", "this kernel gives no userfaultfd");
	assert_int_equal(ioctl(stage.fault_fd, UFFDIO_API, &api), 0);
	stage.plain =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(stage.plain != MAP_FAILED);
	stage.missing = stage.plain + PAGE;
	region.range.start = (uintptr_t)stage.missing;
	region.range.len = PAGE;
	assert_int_equal(ioctl(stage.fault_fd, UFFDIO_REGISTER, &region), 0);
}

static int set_up(void **state)
{
	const struct ezprof_bpf_options options = {
		.endpoints_max = ENDPOINTS, .paths = EZPROF_PATH_BOUNDARY | EZPROF_PATH_WINDOW};
	struct ezprof_refusal refusal = {0};
	int err = ezprof_bpf_load(&options, &stage.bpf, &refusal);

	(void)state;
	if (err)
		fail_msg("load: %s: %s: %s", strerror(-err), refusal.what, refusal.why);
	assert_int_equal(ezprof_maps_open(stage.bpf, &stage.maps), 0);
	assert_int_equal(ezprof_buckets_open(stage.bpf, &stage.buckets), 0);
	assert_int_equal(ezprof_maps_add_target(stage.maps, getpid(), 1), 0);
	attach(EZPROF_PATH_BOUNDARY, 0, EZ_PROBE_BOUNDARY_COUNT, 0);
	attach(EZPROF_PATH_WINDOW, EZ_PROBE_window, EZ_PROBE_window + 1, 1);
	assert_int_equal(
		ezprof_buckets_accept(stage.buckets, getpid(), FILE_NUMBER, 0, &stage.from_id), 0);
	stage.attached_ns = now_ns();
	set_up_faults();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++)
		ezprof_links_close_all(stage.link_fds[i], stage.link_counts[i]);
	ezprof_buckets_close(stage.buckets);
	ezprof_maps_close(stage.maps);
	ezprof_bpf_free(stage.bpf);
	close(stage.fault_fd);
	munmap(stage.plain, 2 * PAGE);
	return 0;
}

static void *fire(void *context)
{
	const struct hit *hit = context;
	const uint64_t one = 1;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (hit->page)
		ez_probe_window(hit->endpoint, hit->page, sizeof(struct ez_bucket), hit->id, 0);
	else
		ez_probe_publish(hit->endpoint, 1, hit->bytes, 1, "");
	if (write(hit->done_fd, &one, sizeof(one)) != sizeof(one))
		return NULL;
	return NULL;
}

static void provide(const void *content)
{
	static const char zeros[PAGE] __attribute__((aligned(PAGE)));
	struct uffdio_copy copy = {.dst = (uintptr_t)stage.missing,
				   .src = (uintptr_t)(content ? content : zeros),
				   .len = PAGE};

	assert_int_equal(ioctl(stage.fault_fd, UFFDIO_COPY, &copy), 0);
}

/*
 * Lets `first` run until it stops, then all of `second`, `between` on top, and the rest of the
 * first. False: the first one ran to its end without stopping, and the second after it.
 */
static bool overlap(struct hit first, struct hit second, const void *content,
		    void (*between)(const struct hit *first))
{
	struct pollfd ready[2] = {{.fd = stage.fault_fd, .events = POLLIN},
				  {.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN}};
	int second_fd = eventfd(0, EFD_CLOEXEC);
	struct uffd_msg message;
	pthread_t threads[2];
	bool stopped;

	first.done_fd = ready[1].fd;
	second.done_fd = second_fd;
	assert_int_equal(pthread_create(&threads[0], NULL, fire, &first), 0);
	assert_true(poll(ready, 2, WAIT_MS) > 0);
	stopped = ready[0].revents;
	if (stopped)
		assert_int_equal(read(stage.fault_fd, &message, sizeof(message)), sizeof(message));
	/* What the first one left of the countdown is not for the second. */
	stop_at(stage.bpf, 0, NULL);
	assert_int_equal(pthread_create(&threads[1], NULL, fire, &second), 0);
	assert_int_equal(poll(&(struct pollfd){.fd = second_fd, .events = POLLIN}, 1, WAIT_MS), 1);
	if (stopped && between)
		between(&first);
	if (stopped)
		provide(content);
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	madvise(stage.missing, PAGE, MADV_DONTNEED);
	close(ready[1].fd);
	close(second_fd);
	return stopped;
}

/* ---- boundary: sums and notes of one ring ---- */

static bool counted(uint32_t index, uint64_t messages, uint64_t bytes)
{
	struct ezprof_window w;
	struct ezprof_raw raw;
	struct ezprof_fold_input input;

	assert_int_equal(ezprof_maps_read(stage.maps, getpid(), FILE_NUMBER, index, 1, &raw), 0);
	input = (struct ezprof_fold_input){.rings = raw.rings,
					   .cpu_count = raw.cpu_count,
					   .slot = &raw.slot,
					   .owner = raw.owner,
					   .now_ns = now_ns(),
					   .window_ns = 16000000000u,
					   .attached_ns = stage.attached_ns};
	ezprof_fold(&input, &w);
	return raw.stable && w.measured_messages == messages && w.measured_bytes == bytes &&
	       w.messages == messages && w.bytes == bytes;
}

/* Stopped at one of its steps; the other one's hit in between, of the same endpoint. */
static bool publish_twice(uint32_t index, uint64_t step)
{
	struct hit small = {.endpoint = EZ_ENDPOINT_REF(1, index), .bytes = 10};
	struct hit large = {.endpoint = EZ_ENDPOINT_REF(1, index), .bytes = 1000};

	stop_at(stage.bpf, step, stage.missing);
	return overlap(small, large, NULL, NULL);
}

/* An endpoint's first hits: the ring is taken over, the bucket's beginning noted, sums added to. */
static void test_first_hits(void **state)
{
	unsigned int wrong = 0, step = 1;

	(void)state;
	while (step < ENDPOINTS && publish_twice(step, step)) {
		wrong += !counted(step, 2, 1010);
		step++;
	}
	printf("%u steps, %u of them wrong\n", step - 1, wrong);
	assert_in_range(step, 30, ENDPOINTS - 1);
	assert_int_equal(wrong > 0, EXPECT_WRONG);
}

static void await_next_bucket(void)
{
	uint64_t id = EZ_BUCKET_ID(now_ns());

	while (EZ_BUCKET_ID(now_ns()) == id)
		sleep_ms(2);
}

/* Later hits of one endpoint, the first two of each bucket. */
static void test_new_buckets(void **state)
{
	uint64_t published = 1;
	unsigned int wrong = 0, step;

	(void)state;
	stop_at(stage.bpf, 0, NULL);
	ez_probe_publish(EZ_ENDPOINT_REF(1, 0), 1, 1010, 1, "");
	for (step = 1;; step += 5) {
		await_next_bucket();
		if (!publish_twice(0, step))
			break;
		published += 2;
		wrong += !counted(0, published, published / 2 * 1010 + 1010);
	}
	printf("up to step %u, %u wrong\n", step, wrong);
	assert_in_range(step, 20, 500);
	if (!EXPECT_WRONG)
		assert_int_equal(wrong, 0);
}

/* ---- window: buckets of two endpoints ---- */

#define FIRST 400u
#define SECOND 401u

static void fill(struct ez_bucket *b, uint64_t id, uint64_t seed)
{
	memset(b, 0, sizeof(*b));
	b->id = id;
	b->bytes = seed * 11;
	b->messages = (ez_b32)seed;
	for (unsigned int i = 0; i < EZ_INTERVALS; i++) {
		b->n[i] = (ez_b32)(seed + i);
		b->sum_ns[i] = seed * 1000 + i;
	}
	memset(&b->shape, (int)(seed & 0xff), sizeof(b->shape));
}

static bool is_there(uint32_t index, const struct ez_bucket *b)
{
	struct ezprof_bucket_list list;
	int err = ezprof_buckets_read(stage.buckets, getpid(), FILE_NUMBER, index, 1, b->id, b->id,
				      &list);
	const struct ez_bucket_sums *sums = &list.buckets[0].sums;

	if (err || list.count != 1 || !list.buckets[0].shape)
		return false;
	for (unsigned int i = 0; i < EZ_INTERVALS; i++) {
		if (sums->n[i] != b->n[i] || sums->sum_ns[i] != b->sum_ns[i])
			return false;
	}
	return sums->messages == b->messages && sums->bytes == b->bytes &&
	       memcmp(list.buckets[0].shape, &b->shape, sizeof(b->shape)) == 0;
}

/* What is half written is not there. */
static void expect_void(const struct hit *first)
{
	struct ezprof_bucket_list list;
	int err;

	assert_int_equal(ezprof_buckets_begin(stage.buckets), 0);
	err = ezprof_buckets_read(stage.buckets, getpid(), FILE_NUMBER, (uint32_t)first->endpoint,
				  1, first->id, first->id, &list);
	assert_true(err == -ENOENT || (!err && list.count == 0));
}

/* `page`: where the first one's bucket is to lie; of what is in the missing page: `content`. */
static bool hand_over_both(uint64_t id, char *page, const void *content)
{
	static struct ez_bucket a, b;
	static char room[PAGE] __attribute__((aligned(PAGE)));
	struct hit first = {.endpoint = EZ_ENDPOINT_REF(1, FIRST), .page = page, .id = id};
	struct hit second = {.endpoint = EZ_ENDPOINT_REF(1, SECOND), .page = room, .id = id};

	fill(&a, id, 100 + id % 50);
	fill(&b, id, 200 + id % 50);
	memcpy(room, &b, sizeof(b));
	assert_true(overlap(first, second, content, expect_void));
	assert_int_equal(ezprof_buckets_begin(stage.buckets), 0);
	return is_there(FIRST, &a) && is_there(SECOND, &b);
}

/* In each of the two readings, amid it and right after it. */
static void test_hand_overs(void **state)
{
	static char content[PAGE] __attribute__((aligned(PAGE)));
	struct ez_bucket a;
	unsigned int wrong = 0;
	uint64_t id = stage.from_id + 1;

	(void)state;
	stop_at(stage.bpf, 0, NULL);
	fill(&a, id, 100 + id % 50);
	memcpy(content, &a, sizeof(a));
	wrong += !hand_over_both(id, stage.missing, content);
	id++;
	fill(&a, id, 100 + id % 50);
	memcpy(stage.missing - EZ_BUCKET_HEAD_BYTES, &a, EZ_BUCKET_HEAD_BYTES);
	memcpy(content, &a.shape, sizeof(a.shape));
	wrong += !hand_over_both(id, stage.missing - EZ_BUCKET_HEAD_BYTES, content);
	for (uint64_t step = 1; step <= 2; step++) {
		id++;
		fill(&a, id, 100 + id % 50);
		memcpy(stage.plain, &a, sizeof(a));
		stop_at(stage.bpf, step, stage.missing);
		wrong += !hand_over_both(id, stage.plain, NULL);
	}
	printf("%u of 4 wrong\n", wrong);
	assert_int_equal(wrong > 0, EXPECT_WRONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_hits),
		cmocka_unit_test(test_new_buckets),
		cmocka_unit_test(test_hand_overs),
	};

	ez_require_bpf();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
