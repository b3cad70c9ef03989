/* SPDX-License-Identifier: MIT */
/*
 * What an object file says about our probes and registry: its stapsdt notes of provider `ezmsg`,
 * turned into file offsets, and its `.note.ezprof`. The file is hostile input: it is read by
 * bounded pread() calls, never mapped, and every number in it is checked.
 */
#ifndef EZPROF_ELF_NOTES_H
#define EZPROF_ELF_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EZPROF_ELF_SITES_MAX 64u
#define EZPROF_ELF_SEGMENTS_MAX 32u
#define EZPROF_ELF_ARGUMENTS_BYTES 128u

/* clang-format off */
/* What the file is to us. */
#define EZPROF_ELF_VERDICT_LIST(X) \
	X(PROBES, "has probes of provider ezmsg") \
	X(NONE, "has no probes of provider ezmsg") \
	X(NOT_ELF, "is not an ELF file") \
	X(CLASS32, "is a 32-bit object, which is not supported") \
	X(MACHINE, "is for another machine or byte order") \
	X(DAMAGED, "has damaged section headers or notes") \
	X(ARGUMENTS, "has probes whose arguments can't be read") \
	X(LONG_NOP, "has probe sites that are not a one-byte nop") \
	X(TOO_MANY, "has more probe sites than the limit of 64")
/* clang-format on */

#define EZPROF_ELF_ENUM(name, text) EZPROF_ELF_##name,
enum ezprof_elf_verdict { EZPROF_ELF_VERDICT_LIST(EZPROF_ELF_ENUM) };
#undef EZPROF_ELF_ENUM

struct ezprof_elf_site {
	uint32_t probe;		   /* enum ez_probe */
	uint64_t offset;	   /* of the nop in the file */
	uint64_t semaphore_offset; /* in the file; 0: none */
	uint64_t semaphore_vaddr;  /* link-time address; 0: none */
};

struct ezprof_elf_segment {
	uint64_t offset, vaddr, file_bytes;
	uint32_t flags; /* PF_X and others */
};

struct ezprof_elf {
	enum ezprof_elf_verdict verdict;
	/* PROBES: arguments are not in our registers, but libbpf can read them: usdt_fallback.h. */
	bool foreign;
	/* The first probe with such arguments, or with unreadable ones, and these, cut: "publish
	   8@%rax ...". Hostile text. */
	char arguments[EZPROF_ELF_ARGUMENTS_BYTES];
	uint32_t site_count;				    /* 0 unless the verdict is PROBES */
	struct ezprof_elf_site sites[EZPROF_ELF_SITES_MAX]; /* by ascending probe number */
	bool has_registry;
	uint64_t registry_vaddr; /* link-time address of struct ez_registry */
	uint32_t segment_count;
	struct ezprof_elf_segment segments[EZPROF_ELF_SEGMENTS_MAX]; /* PT_LOAD, in file order */
};

_Static_assert(EZPROF_ELF_SITES_MAX == 64, "the verdict TOO_MANY says so");

/*
 * Reads the object behind `fd` (a regular file, position neither used nor moved). Whatever the file
 * holds, the answer is a verdict; an error is one of reading: -EIO and the like. Any thread.
 */
int ezprof_elf_read(int fd, struct ezprof_elf *ret_elf);

/* The verdict in words, to stand behind the file's name. */
const char *ezprof_elf_verdict_text(enum ezprof_elf_verdict verdict);

/*
 * The names of those probes of which the object has no site, from `first` to before `end` (enum
 * ez_probe): an older or altered build. Returns how many.
 */
unsigned int ezprof_elf_missing(const struct ezprof_elf *elf, unsigned int first, unsigned int end,
				char *ret_names, size_t bytes);

/*
 * What to add to a link-time address, given one executable mapping of the file: its address and
 * file offset. Errors: -ENOENT no executable segment holds that offset.
 */
int ezprof_elf_bias(const struct ezprof_elf *elf, uint64_t map_start, uint64_t map_offset,
		    uint64_t *ret_bias);

#endif
