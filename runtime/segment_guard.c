/* SPDX-License-Identifier: MIT */
#include "segment_guard.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK 64

/* Read by the handler at any moment: `version` is odd while the range changes. */
struct ez_guarded {
	uint32_t version;
	bool used; /* under the lock */
	bool tripped;
	uintptr_t base;
	size_t bytes;
};

/* Never freed: the handler may be walking along them. */
struct chunk {
	struct ez_guarded guarded[CHUNK];
	struct chunk *next;
};

static struct chunk first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sigaction before;
static uintptr_t page_bytes;

/* ---- the handler: async-signal-safe calls only ---- */

static bool holds(const struct ez_guarded *guarded, uintptr_t address, uintptr_t *ret_end)
{
	uint32_t version = __atomic_load_n(&guarded->version, __ATOMIC_ACQUIRE);
	uintptr_t base = __atomic_load_n(&guarded->base, __ATOMIC_RELAXED);
	size_t bytes = __atomic_load_n(&guarded->bytes, __ATOMIC_RELAXED);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* One that changes right now isn't the one that its user has just read. */
	if (version & 1 || version != __atomic_load_n(&guarded->version, __ATOMIC_RELAXED))
		return false;
	*ret_end = base + bytes;
	return bytes && address >= base && address - base < bytes;
}

static bool put_zeros(uintptr_t address)
{
	struct chunk *chunk;
	uintptr_t end, from = address & ~(page_bytes - 1);

	for (chunk = &first; chunk; chunk = __atomic_load_n(&chunk->next, __ATOMIC_ACQUIRE))
		for (int i = 0; i < CHUNK; i++) {
			if (!holds(&chunk->guarded[i], address, &end))
				continue;
			__atomic_store_n(&chunk->guarded[i].tripped, true, __ATOMIC_RELEASE);
			return mmap((void *)from, end - from, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
		}
	return false;
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(number, info, context);
	} else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(number);
	} else if (before.sa_handler == SIG_DFL || info->si_code > 0) {
		/* A fault comes again when we return, what was sent has to be sent again. */
		signal(number, SIG_DFL);
		if (info->si_code <= 0)
			raise(number);
	}
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
	int saved_errno = errno;

	if (info->si_code != BUS_ADRERR || !put_zeros((uintptr_t)info->si_addr))
		pass_on(number, info, context);
	errno = saved_errno;
}

/* A child makes segments of its own: the lock must not be another thread's there. */
static void fork_prepare(void)
{
	pthread_mutex_lock(&lock);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&lock);
}

static void fork_child(void)
{
	pthread_mutex_init(&lock, NULL);
}

static void install(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

	page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	action.sa_sigaction = on_bus_error;
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, NULL, &before);
	sigaction(SIGBUS, &action, NULL);
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* ---- who is guarded ---- */

static void set_range(struct ez_guarded *guarded, uintptr_t base, size_t bytes)
{
	__atomic_fetch_add(&guarded->version, 1, __ATOMIC_ACQ_REL);
	__atomic_store_n(&guarded->base, base, __ATOMIC_RELAXED);
	__atomic_store_n(&guarded->bytes, bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&guarded->version, 1, __ATOMIC_RELEASE);
}

static struct ez_guarded *find_free_locked(void)
{
	struct chunk *chunk = &first;

	for (;; chunk = chunk->next) {
		for (int i = 0; i < CHUNK; i++)
			if (!chunk->guarded[i].used)
				return &chunk->guarded[i];
		if (!chunk->next) {
			struct chunk *more = calloc(1, sizeof(*more));

			if (!more)
				return NULL;
			__atomic_store_n(&chunk->next, more, __ATOMIC_RELEASE);
		}
	}
}

struct ez_guarded *ez_segment_guard(void *base, size_t bytes)
{
	struct ez_guarded *guarded;

	pthread_once(&once, install);
	pthread_mutex_lock(&lock);
	guarded = find_free_locked();
	if (guarded) {
		guarded->used = true;
		__atomic_store_n(&guarded->tripped, false, __ATOMIC_RELAXED);
		set_range(guarded, (uintptr_t)base, bytes);
	}
	pthread_mutex_unlock(&lock);
	return guarded;
}

void ez_segment_unguard(struct ez_guarded *guarded)
{
	if (!guarded)
		return;
	pthread_mutex_lock(&lock);
	set_range(guarded, 0, 0);
	guarded->used = false;
	pthread_mutex_unlock(&lock);
}

bool ez_segment_guard_tripped(const struct ez_guarded *guarded)
{
	return __atomic_load_n(&guarded->tripped, __ATOMIC_ACQUIRE);
}

void ez_signals_of_others(sigset_t *ret_set)
{
	static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP};

	sigfillset(ret_set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(ret_set, faults[i]);
}
