/* SPDX-License-Identifier: MIT */
/* Bounded reading of ELF headers; see elf_file.h. */
#include "elf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_BYTES_MAX (1u << 20)

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#endif

int ezprof_elf_file_read(const struct ezprof_elf_file *file, uint64_t offset, void *ret_data,
			 size_t bytes)
{
	size_t done = 0;

	if (offset > file->bytes || bytes > file->bytes - offset)
		return -EBADMSG;
	while (done < bytes) {
		ssize_t n = pread(file->fd, (char *)ret_data + done, bytes - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		/* Shorter than it was a moment ago. */
		if (n == 0)
			return -EBADMSG;
		done += (size_t)n;
	}
	return 0;
}

static int read_header(struct ezprof_elf_file *file)
{
	const unsigned char *ident = file->header.e_ident;
	int err;

	if (file->bytes < EI_NIDENT)
		return -ENOEXEC;
	err = ezprof_elf_file_read(file, 0, &file->header, EI_NIDENT);
	if (err)
		return err;
	if (memcmp(ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	if (ident[EI_CLASS] == ELFCLASS32)
		return -EXDEV;
	if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
		return -EPROTO;
	err = ezprof_elf_file_read(file, 0, &file->header, sizeof(file->header));
	if (err)
		return err;
	return file->header.e_machine == OUR_MACHINE ? 0 : -EPROTO;
}

static int read_sections(struct ezprof_elf_file *file)
{
	const Elf64_Ehdr *h = &file->header;

	/* Without section headers there are no notes to be found; more than 65,279 sections
	   (which e_shnum = 0 would mean as well) are no file of ours. */
	if (!h->e_shnum)
		return 0;
	if (h->e_shentsize != sizeof(Elf64_Shdr))
		return -EBADMSG;
	file->sections = calloc(h->e_shnum, sizeof(Elf64_Shdr));
	if (!file->sections)
		return -ENOMEM;
	return ezprof_elf_file_read(file, h->e_shoff, file->sections,
				    h->e_shnum * sizeof(Elf64_Shdr));
}

static int read_names(struct ezprof_elf_file *file)
{
	const Elf64_Shdr *s;

	if (file->header.e_shstrndx >= file->header.e_shnum)
		return 0;
	s = &file->sections[file->header.e_shstrndx];
	if (s->sh_size > NAMES_BYTES_MAX)
		return -EBADMSG;
	file->names = calloc(1, s->sh_size + 1);
	if (!file->names)
		return -ENOMEM;
	file->names_bytes = s->sh_size;
	return ezprof_elf_file_read(file, s->sh_offset, file->names, s->sh_size);
}

int ezprof_elf_file_open(int fd, struct ezprof_elf_file *ret_file)
{
	struct ezprof_elf_file file = {.fd = fd};
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	file.bytes = (uint64_t)st.st_size;
	err = read_header(&file);
	if (!err)
		err = read_sections(&file);
	if (!err)
		err = read_names(&file);
	if (err)
		ezprof_elf_file_close(&file);
	else
		*ret_file = file;
	return err;
}

void ezprof_elf_file_close(struct ezprof_elf_file *file)
{
	free(file->sections);
	free(file->names);
	file->sections = NULL;
	file->names = NULL;
}

const char *ezprof_elf_file_section_name(const struct ezprof_elf_file *file,
					 const Elf64_Shdr *section)
{
	return section->sh_name < file->names_bytes ? file->names + section->sh_name : "";
}
