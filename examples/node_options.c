/* SPDX-License-Identifier: MIT */
/* The command line of a demo node. */
#include "node_options.h"

#include <argp.h>
#include <string.h>

#include "parse.h"

static const char usage[] = "source TOPIC\nrelay FROM TO\nsink TOPIC...";
static const char documentation[] =
	"One node of a demonstration graph. Runs until SIGINT or SIGTERM, then prints one JSON "
	"object per publisher and subscriber with what it counted.";

enum {
	KEY_RATE = 256,
	KEY_COUNT,
	KEY_BYTES,
	KEY_WORK,
	KEY_BUFFERS,
	KEY_TCP,
	KEY_HOST,
	KEY_MONITOR,
	KEY_LEAKY,
	KEY_HANDLE,
	KEY_WAIT,
	KEY_THREADS,
	KEY_CPU,
	KEY_MIGRATE,
	KEY_STALL,
	KEY_BURST,
	KEY_SPIN
};

static const struct argp_option table[] = {
	{"address", 'a', "HOST:PORT", 0, "graph server; default EZMSG_GRAPHSERVER_ADDR", 0},
	{"rate", KEY_RATE, "HZ", 0, "source: messages per second; default: no pause between them",
	 0},
	{"count", KEY_COUNT, "N", 0, "source: send so many, say \"sent\", then wait to be ended",
	 0},
	{"bytes", KEY_BYTES, "N", 0, "source: size of a message's content; default 64", 0},
	{"wait-channels", KEY_WAIT, "N", 0, "source: start when so many channels are connected", 0},
	{"monitor", KEY_MONITOR, NULL, 0, "source: subscribe to the own topic in the same process",
	 0},
	{"work-ms", KEY_WORK, "MS", 0, "relay, sink: time that each message takes", 0},
	{"leaky", KEY_LEAKY, NULL, 0, "relay, sink: drop what is too much", 0},
	{"handle", KEY_HANDLE, "NAME", 0, "relay, sink: name in profiles; default: the topic", 0},
	{"num-buffers", KEY_BUFFERS, "N", 0, "source, relay: buffers of the publisher", 0},
	{"threads", KEY_THREADS, "N", 0, "source: threads that publish, together the count", 0},
	{"pin-cpu", KEY_CPU, "N", 0, "run on this CPU only", 0},
	{"migrate", KEY_MIGRATE, NULL, 0, "source: to another CPU every 100 messages", 0},
	{"stall-first", KEY_STALL, NULL, 0, "sink: never give the first message back", 0},
	{"burst", KEY_BURST, "N", 0, "source: send so many at once, at the same rate on average",
	 0},
	{"spin", KEY_SPIN, NULL, 0, "relay, sink: compute in that time instead of sleeping", 0},
	{"host", KEY_HOST, "ADDRESS", 0,
	 "source, relay: listen there; default 127.0.0.1: subscribers of this machine alone", 0},
	{"tcp", KEY_TCP, NULL, 0, "source, relay: publish by tcp only", 0},
	{0},
};

static void number(struct argp_state *state, const char *arg, uint64_t max, uint64_t *ret_value)
{
	if (ez_parse_u64_range(arg, 0, max, ret_value))
		argp_error(state, "'%s' is not a number up to %llu", arg, (unsigned long long)max);
}

static double real(struct argp_state *state, const char *arg, double max)
{
	double value = 0;

	if (ez_parse_double(arg, &value) || value > max)
		argp_error(state, "'%s' is not a number up to %g", arg, max);
	return value;
}

static void argument(struct argp_state *state, const char *arg, struct node_options *options)
{
	static const char *const roles[] = {"source", "relay", "sink"};
	int i;

	if (state->arg_num > 0) {
		if (options->num_topics == NODE_TOPICS_MAX)
			argp_error(state, "more than %d topics", NODE_TOPICS_MAX);
		options->topics[options->num_topics++] = arg;
		return;
	}
	for (i = 0; i < 3; i++) {
		if (strcmp(arg, roles[i]) == 0) {
			options->role = (enum node_role)i;
			return;
		}
	}
	argp_error(state, "'%s' is no role: source, relay or sink", arg);
}

static void check(struct argp_state *state, const struct node_options *options)
{
	int wanted = options->role == NODE_SOURCE ? 1 : options->role == NODE_RELAY ? 2 : 0;

	if (options->num_topics == 0 || (wanted && options->num_topics != wanted))
		argp_error(state, "a source has one topic, a relay two, a sink at least one");
}

/* What a node does that only tests want. */
static error_t on_test_option(int key, char *arg, struct argp_state *state,
			      struct node_options *options)
{
	uint64_t cpu = 0;

	switch (key) {
	case KEY_THREADS:
		number(state, arg, 256, &options->threads);
		break;
	case KEY_CPU:
		number(state, arg, 1023, &cpu);
		options->cpu = (int64_t)cpu;
		break;
	case KEY_MIGRATE:
		options->migrate = true;
		break;
	case KEY_BURST:
		number(state, arg, 65536, &options->burst);
		break;
	case KEY_SPIN:
		options->spin = true;
		break;
	case KEY_STALL:
		options->stall_first = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t on_option(int key, char *arg, struct argp_state *state)
{
	struct node_options *options = state->input;

	switch (key) {
	case 'a':
		options->address = arg;
		break;
	case KEY_RATE:
		options->rate_hz = real(state, arg, 1e9);
		break;
	case KEY_COUNT:
		number(state, arg, UINT64_MAX, &options->count);
		break;
	case KEY_BYTES:
		number(state, arg, 1u << 30, &options->bytes);
		break;
	case KEY_WAIT:
		number(state, arg, 1000, &options->wait_channels);
		break;
	case KEY_MONITOR:
		options->monitor = true;
		break;
	case KEY_WORK:
		options->work_ns = (uint64_t)(real(state, arg, 1e6) * 1e6);
		break;
	case KEY_LEAKY:
		options->leaky = true;
		break;
	case KEY_HANDLE:
		options->handle = arg;
		break;
	case KEY_BUFFERS:
		number(state, arg, 65536, &options->num_buffers);
		break;
	case KEY_HOST:
		options->host = arg;
		break;
	case KEY_TCP:
		options->tcp = true;
		break;
	case ARGP_KEY_ARG:
		argument(state, arg, options);
		break;
	case ARGP_KEY_END:
		check(state, options);
		break;
	default:
		return on_test_option(key, arg, state, options);
	}
	return 0;
}

void node_options_parse(int argc, char **argv, struct node_options *ret_options)
{
	static const struct argp argp = {table, on_option, usage, documentation, NULL, NULL, NULL};

	argp_err_exit_status = 2;
	/* Assigned, since a variable of our own would be hidden and argp see its own. */
	argp_program_version = "ezmsg-node " EZPROF_VERSION;
	memset(ret_options, 0, sizeof(*ret_options));
	ret_options->bytes = 64;
	ret_options->threads = 1;
	ret_options->burst = 1;
	ret_options->cpu = -1;
	argp_parse(&argp, argc, argv, 0, NULL, ret_options);
}
