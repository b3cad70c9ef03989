/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <argp.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"

#define MIB (UINT64_C(1) << 20)
#define UPDATE_TIMEOUT_VARIABLE "EZMSG_SUBSCRIBER_UPDATE_TIMEOUT_SEC"

enum {
	OPT_VERSION_TEXT = 256,
	OPT_DIALECT,
	OPT_LOG_LEVEL,
	OPT_NUMBER, /* the first of numbers[] */
};

/* Options that are whole numbers: name, member, default, range, help. */
static const struct number {
	const char *name;
	size_t member;
	uint64_t normal, min, max;
	const char *help;
} numbers[] = {
#define NUMBER(name, member, normal, min, max, help) \
	{ \
		name, offsetof(struct ezprof_config, member), normal, min, max, help \
	}
	NUMBER("profile-deadline-ms", profile_deadline_ms, 1000, 1, 3600000,
	       "How long a PROFILE waits for answers (1000)"),
	NUMBER("departure-delay-ms", departure_delay_ms, 1000, 0, 3600000,
	       "When subscribers hear that a publisher left (1000)"),
	NUMBER("request-timeout-ms", request_timeout_ms, 30000, 10, 3600000,
	       "Drop a client whose request isn't complete by then (30000)"),
	NUMBER("peer-timeout-s", peer_timeout_s, 120, 2, 86400,
	       "Drop a peer whose machine or network vanished after this time (120)"),
	NUMBER("max-clients", clients_max, 65536, 1, 1 << 24, "Connections at a time (65536)"),
	NUMBER("max-edges", edges_max, 65536, 1, 1 << 24, "Edges between topics (65536)"),
	NUMBER("max-string-bytes", string_bytes_max, 4096, 1, MIB, "Length of a topic (4096)"),
	NUMBER("max-payload-bytes", payload_bytes_max, 64 * MIB, 65536, 1024 * MIB,
	       "Length of a client's answer or pickle (64 MiB)"),
	NUMBER("max-pending-bytes", pending_bytes_max, 128 * MIB, 65536, 4096 * MIB,
	       "Drop a client that leaves so much unread (128 MiB)"),
	NUMBER("max-segment-bytes", segment_bytes_max, 16384 * MIB, 4096, MIB << 24,
	       "Size of a shared-memory segment (16 GiB)"),
#undef NUMBER
};

#define N_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static int parse_dialect(const char *text, struct ezprof_config *config)
{
	static const char *const names[] = {
		[EZPROF_DIALECT_AUTO] = "auto",
		[EZPROF_DIALECT_3_9] = "3.9",
		[EZPROF_DIALECT_PR206] = "pr206",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) == 0) {
			config->dialect = (enum ezprof_dialect)i;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_number(struct ezprof_config *config, const struct number *number, const char *text)
{
	uint64_t value;
	int err = ez_parse_u64_range(text, number->min, number->max, &value);

	if (!err)
		memcpy((char *)config + number->member, &value, sizeof(value));
	return err;
}

static int parse_value(int key, const char *text, struct ezprof_options *options)
{
	struct ezprof_config *config = &options->config;

	switch (key) {
	case 'a':
		return ez_parse_address(text, &config->address);
	case OPT_VERSION_TEXT:
		config->version = text;
		return strlen(text) < EZ_VERSION_BYTES ? 0 : -ERANGE;
	case OPT_DIALECT:
		return parse_dialect(text, config);
	case OPT_LOG_LEVEL:
		return ez_log_parse_level(text, &options->log_level);
	default:
		return parse_number(config, &numbers[key - OPT_NUMBER], text);
	}
}

/* Says what is wanted in the words of the table. */
static void refuse(struct argp_state *state, int key, const char *text, int err)
{
	static const char *const names[] = {[OPT_DIALECT - OPT_VERSION_TEXT] = "dialect",
					    [OPT_LOG_LEVEL - OPT_VERSION_TEXT] = "log-level"};
	const struct number *number = numbers + (key > OPT_NUMBER ? key - OPT_NUMBER : 0);

	if (key == 'a')
		argp_error(state,
			   "--address '%.60s': host:port is wanted, such as " EZ_DEFAULT_ADDRESS,
			   text);
	else if (key >= OPT_NUMBER)
		argp_error(state, "--%s '%.60s': a number from %llu to %llu is wanted",
			   number->name, text, (unsigned long long)number->min,
			   (unsigned long long)number->max);
	else if (err == -ERANGE)
		argp_error(state, "--announce-version '%.60s...' is too long", text);
	else
		argp_error(state, "--%s '%.60s' is none of its values",
			   names[key - OPT_VERSION_TEXT], text);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct ezprof_options *options = state->input;
	int err;

	if (key != 'a' && (key < OPT_VERSION_TEXT || key >= OPT_NUMBER + (int)N_NUMBERS)) {
		if (key == ARGP_KEY_ARG)
			argp_error(state, "unexpected argument '%s'", text);
		return ARGP_ERR_UNKNOWN;
	}
	err = parse_value(key, text, options);
	if (err)
		refuse(state, key, text, err);
	return 0;
}

static void fill_table(struct argp_option *table)
{
	*table++ = (struct argp_option){
		"address",
		'a',
		"HOST:PORT",
		0,
		"Listen here; port 0 = any ($EZMSG_GRAPHSERVER_ADDR, else 127.0.0.1:25978)",
		0};
	*table++ = (struct argp_option){"announce-version",
					OPT_VERSION_TEXT,
					"TEXT",
					0,
					"Version of ezmsg to greet clients with (3.9.0)",
					0};
	*table++ = (struct argp_option){
		"dialect",
		OPT_DIALECT,
		"auto|3.9|pr206",
		0,
		"What byte 15 means: auto tells by what follows, 3.9 = always SESSION, "
		"pr206 = always PROFILE, which all publishers and channels answer",
		0};
	*table++ = (struct argp_option){"log-level",
					OPT_LOG_LEVEL,
					"off|error|warn|info|debug",
					0,
					"How much to say on stderr (warn)",
					0};
	for (size_t i = 0; i < N_NUMBERS; i++)
		*table++ = (struct argp_option){
			numbers[i].name, OPT_NUMBER + (int)i, "N", 0, numbers[i].help, 0};
}

static void set_defaults(struct ezprof_options *options)
{
	const char *timeout = getenv(UPDATE_TIMEOUT_VARIABLE);
	double seconds;

	memset(options, 0, sizeof(*options));
	options->log_level = EZ_LOG_WARN;
	options->config.version = "3.9.0";
	options->config.update_timeout_ms = 1000;
	if (timeout && ez_parse_double(timeout, &seconds) == 0 && seconds >= 0.001 &&
	    seconds <= 3600)
		options->config.update_timeout_ms = (uint64_t)(seconds * 1000);
	for (size_t i = 0; i < N_NUMBERS; i++)
		memcpy((char *)&options->config + numbers[i].member, &numbers[i].normal,
		       sizeof(uint64_t));
}

static void set_address(struct ezprof_options *options)
{
	int err;

	if (*options->config.address.host)
		return;
	err = ez_address_from_env(&options->config.address);
	if (err == -ENOENT)
		ez_parse_address(EZ_DEFAULT_ADDRESS, &options->config.address);
	else if (err) {
		fprintf(stderr, "%s: %s is not a host:port: '%s'\n", program_invocation_short_name,
			EZ_ADDRESS_VARIABLE, getenv(EZ_ADDRESS_VARIABLE));
		exit(2);
	}
}

void ezprof_options_parse(int argc, char **argv, struct ezprof_options *ret_options)
{
	struct argp_option table[4 + N_NUMBERS + 1] = {{0}};
	const struct argp argp = {
		.options = table,
		.parser = parse_option,
		.doc = "Graph server of ezmsg graphs, also for those of Python. Prints the address "
		       "in use on its "
		       "first line, and ends on SIGTERM, SIGINT or SHUTDOWN."
		       "\vExit status: 0 after a clean stop, 1 if it can't start, 2 on a usage "
		       "error.",
	};

	argp_program_version = "ezprof-graphserver " EZPROF_VERSION;
	argp_err_exit_status = 2;
	fill_table(table);
	set_defaults(ret_options);
	argp_parse(&argp, argc, argv, 0, NULL, ret_options);
	set_address(ret_options);
}
