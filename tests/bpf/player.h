/* SPDX-License-Identifier: MIT */
/*
 * The test's end of probe_player: start it, give it commands, attach to it. Everything here fails
 * the running cmocka test where something goes wrong.
 */
#ifndef EZ_TEST_PLAYER_H
#define EZ_TEST_PLAYER_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "elf_notes.h"
#include "fold.h"
#include "links.h"
#include "loader.h"
#include "map_reader.h"

struct player {
	pid_t pid;
	FILE *to, *from;
};

const char *player_path(void);
void player_start(struct player *player);
void player_start_at(struct player *player, const char *path);
/* By SIGKILL. */
void player_kill(struct player *player);
/* Ends it by closing its stdin, and waits. */
void player_stop(struct player *player);
/* Sends a command, waits for "ok"; up to 16 numbers of the answer. Returns their count. */
unsigned int player_do(struct player *player, int64_t ret_numbers[16], const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* BPF loaded, a reader of its maps, and up to 4 attached players. */
struct bench {
	struct ezprof_bpf *bpf;
	struct ezprof_maps *maps;
	uint64_t attached_ns;
	int link_fds[4][EZPROF_LINKS_MAX];
	uint32_t link_counts[4];
	unsigned int attached;
};

void bench_open(struct bench *bench, const struct ezprof_bpf_options *options);
/* Attaches to that player's executable: by pid, or for everyone. File number 1. */
void bench_attach(struct bench *bench, const struct player *player, bool everyone);
void bench_detach(struct bench *bench);
void bench_close(struct bench *bench);
/* The window of one endpoint of a player, generation 1 unless said otherwise. */
struct ezprof_window bench_window(struct bench *bench, const struct player *player, uint32_t index,
				  double window_s);
struct ezprof_counters bench_counters(struct bench *bench);
/* Sum of all losses. */
uint64_t bench_losses(struct bench *bench);

uint64_t now_ns(void);
void sleep_ms(unsigned int ms);

#endif
