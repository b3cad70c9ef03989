/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz harness on mutations of a corpus, the same ones every time: driver RUNS [FOLDER].
 * No coverage feedback, so no replacement for libFuzzer; but it needs no clang, takes a bounded
 * time, and a crash in CI is a crash on every machine.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SEEDS_MAX 256
#define INPUT_MAX 65536

struct seed {
	uint8_t *data;
	size_t size;
};

static struct seed seeds[SEEDS_MAX];
static size_t num_seeds;
static uint64_t state = 0x9e3779b97f4a7c15u;

/* xorshift64: fixed start, so the run is the same everywhere. */
static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static size_t below(size_t limit)
{
	return limit ? (size_t)(next_random() % limit) : 0;
}

static int read_seed(int folder, const char *name)
{
	struct seed *seed = &seeds[num_seeds];
	ssize_t got;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	seed->data = malloc(INPUT_MAX);
	got = seed->data ? read(fd, seed->data, INPUT_MAX) : -1;
	close(fd);
	if (got < 0) {
		free(seed->data);
		return -EIO;
	}
	seed->size = (size_t)got;
	num_seeds++;
	return 0;
}

static int name_order(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Sorted, since the order of a directory differs between machines. */
static int read_corpus(const char *path)
{
	struct dirent **names;
	int i, count, err = 0;
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0)
		return -errno;
	count = scandir(path, &names, NULL, name_order);
	for (i = 0; i < count; i++) {
		if (names[i]->d_name[0] != '.' && num_seeds < SEEDS_MAX && !err)
			err = read_seed(folder, names[i]->d_name);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	close(folder);
	return err;
}

/* Values that sit on the edges of length checks. */
static void put_interesting(uint8_t *data, size_t size)
{
	static const uint64_t values[] = {0,	     1,		 0x7f,		 0xff,
					  0x7fff,    0xffff,	 0x7fffffff,	 0xffffffff,
					  INT64_MAX, UINT64_MAX, UINT64_MAX - 7, 1ull << 63};
	uint64_t value = values[below(sizeof(values) / sizeof(values[0]))];
	size_t width = (size_t)1 << below(4);

	if (size >= width)
		memcpy(data + below(size - width + 1), &value, width);
}

/* One small change; returns the new size. */
static size_t mutate(uint8_t *data, size_t size)
{
	size_t at, length;

	switch (below(6)) {
	case 0: /* flip a bit */
		if (size)
			data[below(size)] ^= (uint8_t)(1u << below(8));
		return size;
	case 1: /* another byte */
		if (size)
			data[below(size)] = (uint8_t)next_random();
		return size;
	case 2: /* cut the end off */
		return below(size + 1);
	case 3: /* take a piece out */
		at = below(size);
		length = below(size - at + 1);
		memmove(data + at, data + at + length, size - at - length);
		return size - length;
	case 4: /* repeat a piece */
		at = below(size);
		length = below(size - at + 1);
		if (size + length > INPUT_MAX)
			return size;
		memmove(data + at + length, data + at, size - at);
		return size + length;
	default:
		put_interesting(data, size);
		return size;
	}
}

/* A copy of exactly that size, so that the sanitizer sees a read behind the end. */
static void run_one(const uint8_t *data, size_t size)
{
	uint8_t *exact = malloc(size ? size : 1);

	if (!exact)
		return;
	memcpy(exact, data, size);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

int main(int argc, char **argv)
{
	static uint8_t input[INPUT_MAX];
	long run, runs = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	size_t i, size, changes;
	int err = argc > 2 ? read_corpus(argv[2]) : 0;

	if (err) {
		fprintf(stderr, "corpus %s: %s\n", argv[2], strerror(-err));
		return 2;
	}
	for (i = 0; i < num_seeds; i++)
		run_one(seeds[i].data, seeds[i].size);
	for (run = 0; run < runs; run++) {
		size = 0;
		if (num_seeds) {
			i = below(num_seeds);
			size = seeds[i].size;
			memcpy(input, seeds[i].data, size);
		} else {
			size = below(512);
			for (i = 0; i < size; i++)
				input[i] = (uint8_t)next_random();
		}
		for (changes = 1 + below(4); changes; changes--)
			size = mutate(input, size);
		run_one(input, size);
	}
	for (i = 0; i < num_seeds; i++)
		free(seeds[i].data);
	printf("%ld runs, %zu seeds\n", runs, num_seeds);
	return 0;
}
