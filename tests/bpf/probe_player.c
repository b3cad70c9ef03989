/* SPDX-License-Identifier: MIT */
/*
 * A program to be measured: it does what it is told on stdin, one command a line, with the calls of
 * endpoint.h and nothing else of ours. Answers one line each, "ok" and perhaps numbers.
 *
 *   open KIND BUFFERS     -> ok INDEX GENERATION (endpoints are named by the order of opening)
 *   close E
 *   publish E COUNT BYTES | roundtrip E COUNT BYTES (lease, callback_begin, callback_end, free)
 *   lease E M | free E M BYTES | begin E M | end E M | blocked E | unblocked E
 *   threads N COUNT BYTES E: N threads publish COUNT messages each on one endpoint
 *   nap E NS              -> ok INNER OUTER: lease, begin, sleep, end, free of one message, and the
 *                            times right inside and right outside of these calls
 *   spread N COUNT BYTES ENDPOINTS: N threads publish COUNT messages each, in turn on the first
 * ones pin CPU | migrate ON  (a CPU change every 50 messages) pace HZ               (messages per
 * second for publish; 0: at once) fork COUNT BYTES E    -> ok STATUS of a child that publishes on
 * the inherited endpoint semaphores            -> ok N N ... sleep NS | totals E   -> ok MESSAGES
 * BYTES LEASES FREES page E                -> ok ADDRESS of the endpoint's page each COUNT BYTES
 * COUNT publishes on every endpoint clocked E COUNT PAIRS -> ok NS, in all, of COUNT publishes, or
 * (PAIRS 1) lease and free
 */
#include "endpoint.h"
#include "registry.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENDPOINTS_MAX 512
#define THREADS_MAX 16
#define CHUNK 50

static struct {
	struct ez_entry *entry;
	pthread_mutex_t lock;
	uint64_t next_message;
} endpoints[ENDPOINTS_MAX];
static unsigned int endpoint_count;
static bool migrating;
static uint64_t pace_hz;

static void pin_to(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void maybe_migrate(uint64_t i)
{
	static _Atomic unsigned int cpu;

	if (migrating && i % CHUNK == 0)
		pin_to(cpu++ % (unsigned int)sysconf(_SC_NPROCESSORS_ONLN));
}

static void sleep_until(uint64_t ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u),
			     .tv_nsec = (long)(ns % 1000000000u)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void publish(unsigned int e, uint64_t count, uint64_t bytes)
{
	uint64_t start_ns = ez_clock_ns(CLOCK_MONOTONIC);

	for (uint64_t i = 0; i < count; i++) {
		maybe_migrate(i);
		if (pace_hz)
			sleep_until(start_ns + (i + 1) * 1000000000u / pace_hz);
		pthread_mutex_lock(&endpoints[e].lock);
		ez_endpoint_publish(endpoints[e].entry, endpoints[e].next_message++, bytes);
		pthread_mutex_unlock(&endpoints[e].lock);
	}
}

static void roundtrip(unsigned int e, uint64_t count, uint64_t bytes)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t message = endpoints[e].next_message++;

		maybe_migrate(i);
		ez_endpoint_lease(endpoints[e].entry, message);
		ez_endpoint_callback_begin(endpoints[e].entry, message);
		ez_endpoint_callback_end(endpoints[e].entry, message);
		ez_endpoint_free(endpoints[e].entry, message, bytes);
	}
}

static void nap(unsigned int e, uint64_t ns)
{
	struct ez_entry *entry = endpoints[e].entry;
	uint64_t message = endpoints[e].next_message++;
	uint64_t outer = ez_clock_ns(CLOCK_MONOTONIC), inner;

	ez_endpoint_lease(entry, message);
	ez_endpoint_callback_begin(entry, message);
	inner = ez_clock_ns(CLOCK_MONOTONIC);
	sleep_until(inner + ns);
	inner = ez_clock_ns(CLOCK_MONOTONIC) - inner;
	ez_endpoint_callback_end(entry, message);
	ez_endpoint_free(entry, message, 1);
	outer = ez_clock_ns(CLOCK_MONOTONIC) - outer;
	printf("ok %" PRIu64 " %" PRIu64 "\n", inner, outer);
}

struct share {
	unsigned int e;
	uint64_t count, bytes;
};

static void *publish_share(void *arg)
{
	const struct share *share = arg;

	publish(share->e, share->count, share->bytes);
	return NULL;
}

static void *publish_spread(void *arg)
{
	const struct share *share = arg;

	for (uint64_t i = 0; i < share->count; i++)
		publish((unsigned int)(i % share->e), 1, share->bytes);
	return NULL;
}

static void spread(unsigned int n, struct share share)
{
	pthread_t ids[THREADS_MAX];

	for (unsigned int i = 0; i < n; i++)
		pthread_create(&ids[i], NULL, publish_spread, &share);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
}

static void threads(unsigned int n, struct share share)
{
	pthread_t ids[THREADS_MAX];

	for (unsigned int i = 0; i < n; i++)
		pthread_create(&ids[i], NULL, publish_share, &share);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
}

static uint64_t clocked(unsigned int e, uint64_t count, bool pairs)
{
	struct ez_entry *entry = endpoints[e].entry;
	uint64_t start_ns = ez_clock_ns(CLOCK_MONOTONIC);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t message = endpoints[e].next_message++;

		if (!pairs) {
			ez_endpoint_publish(entry, message, 64);
			continue;
		}
		ez_endpoint_lease(entry, message);
		ez_endpoint_free(entry, message, 64);
	}
	return ez_clock_ns(CLOCK_MONOTONIC) - start_ns;
}

static int fork_and_publish(uint64_t count, uint64_t bytes, unsigned int e)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		publish(e, count, bytes);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return status;
}

static void open_endpoint(unsigned int kind, uint32_t buffers)
{
	struct ez_endpoint_spec spec = {.kind = kind,
					.num_buffers = buffers,
					.topic = "player/topic",
					.handle = "player",
					.task = ""};
	struct ez_entry *entry;

	if (endpoint_count == ENDPOINTS_MAX || ez_registry_open(&spec, &entry)) {
		printf("error\n");
		return;
	}
	endpoints[endpoint_count].entry = entry;
	endpoints[endpoint_count].next_message = 1;
	pthread_mutex_init(&endpoints[endpoint_count++].lock, NULL);
	printf("ok %u %u\n", entry->index, entry->generation);
}

static void print_semaphores(void)
{
	printf("ok");
	for (unsigned int i = 0; i < EZ_PROBE_COUNT; i++)
		printf(" %u", ez_probe_semaphores[i]);
	printf("\n");
}

static void print_totals(const struct ez_entry *e)
{
	printf("ok %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", e->messages, e->bytes,
	       e->leases, e->frees);
}

static unsigned int e_of(uint64_t e)
{
	return e < endpoint_count ? (unsigned int)e : 0;
}

/* Commands that answer by themselves. */
static bool query(const char *name, const uint64_t *a)
{
	if (strcmp(name, "open") == 0)
		open_endpoint((unsigned int)a[0], (uint32_t)a[1]);
	else if (strcmp(name, "semaphores") == 0)
		print_semaphores();
	else if (strcmp(name, "totals") == 0)
		print_totals(endpoints[e_of(a[0])].entry);
	else if (strcmp(name, "nap") == 0)
		nap(e_of(a[0]), a[1]);
	else if (strcmp(name, "clocked") == 0)
		printf("ok %" PRIu64 "\n", clocked(e_of(a[0]), a[1], a[2]));
	else if (strcmp(name, "page") == 0)
		printf("ok %" PRIu64 "\n", endpoints[e_of(a[0])].entry->page);
	else if (strcmp(name, "fork") == 0)
		printf("ok %d\n", fork_and_publish(a[0], a[1], e_of(a[2])));
	else
		return false;
	return true;
}

static void wipe(const struct ez_entry *e)
{
	madvise((void *)(uintptr_t)e->page, EZ_PAGE_BYTES, MADV_DONTNEED);
}

/* Shared memory with something in it, of which this process has just lost its page. */
static void *paged_out(void)
{
	int fd = memfd_create("page", MFD_CLOEXEC);
	void *page = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, EZ_PAGE_BYTES) == 0)
		page = mmap(NULL, EZ_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		exit(1);
	memset(page, 7, EZ_PAGE_BYTES);
	/* The second because the first may do nothing, where there is no swap. */
	madvise(page, EZ_PAGE_BYTES, MADV_PAGEOUT);
	madvise(page, EZ_PAGE_BYTES, MADV_DONTNEED);
	close(fd);
	return page;
}

/* A page that isn't there: never touched, or (1) shared memory paged out. */
static void offer(const struct ez_entry *e, bool shared)
{
	void *page = shared ? paged_out()
			    : mmap(NULL, EZ_PAGE_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ez_probe_window(ez_entry_ref(e), page, sizeof(struct ez_bucket),
			EZ_BUCKET_ID(ez_clock_ns(CLOCK_MONOTONIC)), ez_entry_total(e));
	munmap(page, EZ_PAGE_BYTES);
}

static bool fire(const char *name, const uint64_t *a)
{
	struct ez_entry *e = endpoints[e_of(a[0])].entry;

	if (strcmp(name, "lease") == 0)
		ez_endpoint_lease(e, a[1]);
	else if (strcmp(name, "free") == 0)
		ez_endpoint_free(e, a[1], a[2]);
	else if (strcmp(name, "begin") == 0)
		ez_endpoint_callback_begin(e, a[1]);
	else if (strcmp(name, "end") == 0)
		ez_endpoint_callback_end(e, a[1]);
	else if (strcmp(name, "blocked") == 0)
		ez_endpoint_blocked_begin(e, 1);
	else if (strcmp(name, "unblocked") == 0)
		ez_endpoint_blocked_end(e, 1);
	else if (strcmp(name, "wipe") == 0)
		wipe(e);
	else if (strcmp(name, "offer") == 0)
		offer(e, a[1]);
	else if (strcmp(name, "close") == 0)
		ez_registry_close(e);
	else
		return false;
	return true;
}

static bool act(const char *name, const uint64_t *a)
{
	if (strcmp(name, "publish") == 0)
		publish(e_of(a[0]), a[1], a[2]);
	else if (strcmp(name, "each") == 0)
		for (unsigned int e = 0; e < endpoint_count; e++)
			publish(e, a[0], a[1]);
	else if (strcmp(name, "roundtrip") == 0)
		roundtrip(e_of(a[0]), a[1], a[2]);
	else if (strcmp(name, "threads") == 0 && a[0] <= THREADS_MAX)
		threads((unsigned int)a[0],
			(struct share){.e = e_of(a[3]), .count = a[1], .bytes = a[2]});
	else if (strcmp(name, "spread") == 0 && a[0] <= THREADS_MAX && a[3] <= endpoint_count)
		spread((unsigned int)a[0],
		       (struct share){.e = (unsigned int)a[3], .count = a[1], .bytes = a[2]});
	else if (strcmp(name, "pin") == 0)
		pin_to((unsigned int)a[0]);
	else if (strcmp(name, "migrate") == 0)
		migrating = a[0];
	else if (strcmp(name, "pace") == 0)
		pace_hz = a[0];
	else if (strcmp(name, "sleep") == 0)
		sleep_until(ez_clock_ns(CLOCK_MONOTONIC) + a[0]);
	else
		return false;
	return true;
}

int main(void)
{
	char line[200], name[32];
	uint64_t a[4];

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		memset(a, 0, sizeof(a));
		if (sscanf(line, "%31s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, name, &a[0],
			   &a[1], &a[2], &a[3]) < 1)
			continue;
		if (query(name, a))
			continue;
		printf("%s\n", fire(name, a) || act(name, a) ? "ok" : "error");
	}
	return 0;
}
