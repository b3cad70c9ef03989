/* SPDX-License-Identifier: MIT */
/*
 * A 64-bit ELF file, read by bounded pread() calls: its headers and sections, as they claim to be.
 * What they claim is checked against the file's size by whoever follows it. Any thread.
 */
#ifndef EZPROF_ELF_FILE_H
#define EZPROF_ELF_FILE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#define EZPROF_ELF_SECTIONS_MAX 65535u

struct ezprof_elf_file {
	int fd;
	uint64_t bytes;
	Elf64_Ehdr header;
	Elf64_Shdr *sections; /* header.e_shnum of them */
	char *names;	      /* section names, NUL-terminated */
	uint64_t names_bytes;
};

/*
 * Errors: -ENOEXEC not ELF; -EXDEV 32-bit; -EPROTO another machine or byte order;
 * -EBADMSG damaged; -ENOMEM; those of reading. Nothing to close on error.
 */
int ezprof_elf_file_open(int fd, struct ezprof_elf_file *ret_file);
void ezprof_elf_file_close(struct ezprof_elf_file *file);

/* Reads exactly that part of the file. Errors: -EBADMSG it isn't all there. */
int ezprof_elf_file_read(const struct ezprof_elf_file *file, uint64_t offset, void *ret_data,
			 size_t bytes);

/* Name of a section, "" where there is none. */
const char *ezprof_elf_file_section_name(const struct ezprof_elf_file *file,
					 const Elf64_Shdr *section);

#endif
