/* SPDX-License-Identifier: MIT */
/* Notes of probes and of the registry; see elf_notes.h. */
#include "elf_notes.h"
#include "elf_file.h"
#include "probe_list.h"
#include "probe_nop.h"
#include "registry_layout.h"
#include "usdt_arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTES_BYTES_MAX (1u << 20)
#define STAPSDT_TYPE 3u

#define PROBE_NAME(name, nargs, args, meaning) #name,
#define PROBE_ARGS(name, nargs, args, meaning) nargs,
static const char *const probe_names[] = {EZ_PROBE_LIST(PROBE_NAME)};
#define PROBE_NAMES (sizeof(probe_names) / sizeof(probe_names[0]))
static const unsigned int probe_args[] = {EZ_PROBE_LIST(PROBE_ARGS)};

/* One note of a section: name and descriptor lie in the section's copy. */
struct note {
	uint32_t type;
	const char *name;
	uint32_t name_bytes;
	const unsigned char *desc;
	uint32_t desc_bytes;
};

/* A section's bytes, and how far they have been read. */
struct notes {
	unsigned char *data;
	size_t bytes, at;
};

static size_t padded(size_t bytes)
{
	return (bytes + 3) & ~(size_t)3;
}

/* 1: a note, 0: no more, -EBADMSG: something else. Notes end with the data at the latest. */
static int next_note(struct notes *notes, struct note *ret_note)
{
	Elf64_Nhdr h;
	size_t left = notes->bytes - notes->at;
	const unsigned char *p = notes->data + notes->at;

	if (left < sizeof(h))
		return 0;
	memcpy(&h, p, sizeof(h));
	left -= sizeof(h);
	if (h.n_namesz > left || padded(h.n_namesz) > left ||
	    h.n_descsz > left - padded(h.n_namesz))
		return -EBADMSG;
	ret_note->type = h.n_type;
	ret_note->name = (const char *)p + sizeof(h);
	ret_note->name_bytes = h.n_namesz;
	ret_note->desc = p + sizeof(h) + padded(h.n_namesz);
	ret_note->desc_bytes = h.n_descsz;
	notes->at += sizeof(h) + padded(h.n_namesz) + padded(h.n_descsz);
	if (notes->at > notes->bytes)
		notes->at = notes->bytes;
	return 1;
}

static bool note_is(const struct note *note, const char *name, uint32_t type)
{
	size_t bytes = strlen(name) + 1;

	return note->type == type && note->name_bytes == bytes &&
	       memcmp(note->name, name, bytes) == 0;
}

/* The file offset of a link-time address, which must lie in such a segment (PF_X, PF_W). */
static int offset_of(const struct ezprof_elf *elf, uint64_t vaddr, uint32_t flag,
		     uint64_t *ret_offset)
{
	for (uint32_t i = 0; i < elf->segment_count; i++) {
		const struct ezprof_elf_segment *s = &elf->segments[i];

		if ((s->flags & flag) && vaddr >= s->vaddr && vaddr - s->vaddr < s->file_bytes) {
			*ret_offset = s->offset + (vaddr - s->vaddr);
			return 0;
		}
	}
	return -EBADMSG;
}

static int read_segments(const struct ezprof_elf_file *file, struct ezprof_elf *elf)
{
	const Elf64_Ehdr *h = &file->header;
	Elf64_Phdr p;
	int err;

	if (h->e_phnum && h->e_phentsize != sizeof(p))
		return -EBADMSG;
	for (uint32_t i = 0; i < h->e_phnum; i++) {
		err = ezprof_elf_file_read(file, h->e_phoff + i * sizeof(p), &p, sizeof(p));
		if (err)
			return err;
		if (p.p_type != PT_LOAD)
			continue;
		if (elf->segment_count == EZPROF_ELF_SEGMENTS_MAX || p.p_offset > file->bytes ||
		    p.p_filesz > file->bytes - p.p_offset)
			return -EBADMSG;
		elf->segments[elf->segment_count++] =
			(struct ezprof_elf_segment){.offset = p.p_offset,
						    .vaddr = p.p_vaddr,
						    .file_bytes = p.p_filesz,
						    .flags = p.p_flags};
	}
	return 0;
}

/* Next of the NUL-terminated strings behind a stapsdt note's addresses; NULL: it has no end. */
static const char *next_string(const char **at, const char *end)
{
	const char *s = *at;
	const char *nul = memchr(s, '\0', (size_t)(end - s));

	if (!nul)
		return NULL;
	*at = nul + 1;
	return s;
}

/* False: nobody can read them. */
static bool take_arguments(struct ezprof_elf *elf, uint32_t probe, const char *text)
{
	enum ezprof_usdt_arguments judged = ezprof_usdt_arguments_judge(text, probe_args[probe]);

	if (judged == EZPROF_ARGUMENTS_CANONICAL)
		return true;
	if (!elf->foreign || judged == EZPROF_ARGUMENTS_UNREADABLE)
		snprintf(elf->arguments, sizeof(elf->arguments), "%s %s", probe_names[probe], text);
	elf->foreign = true;
	return judged == EZPROF_ARGUMENTS_READABLE;
}

/* How far the linker, or prelink, has moved the object since its notes were written. */
static uint64_t shift_of(const struct ezprof_elf_file *file, uint64_t note_base)
{
	for (uint32_t i = 0; file->sections && i < file->header.e_shnum; i++) {
		const Elf64_Shdr *s = &file->sections[i];

		if (note_base &&
		    strcmp(ezprof_elf_file_section_name(file, s), ".stapsdt.base") == 0)
			return s->sh_addr - note_base;
	}
	return 0;
}

static enum ezprof_elf_verdict add_site(const struct ezprof_elf_file *file, struct ezprof_elf *elf,
					uint32_t probe, const uint64_t addresses[3])
{
	uint64_t shift = shift_of(file, addresses[1]);
	struct ezprof_elf_site site = {.probe = probe};

	if (elf->site_count == EZPROF_ELF_SITES_MAX)
		return EZPROF_ELF_TOO_MANY;
	if (offset_of(elf, addresses[0] + shift, PF_X, &site.offset))
		return EZPROF_ELF_DAMAGED;
	if (addresses[2]) {
		site.semaphore_vaddr = addresses[2] + shift;
		if (offset_of(elf, site.semaphore_vaddr, PF_W, &site.semaphore_offset))
			return EZPROF_ELF_DAMAGED;
	}
	if (!ezprof_is_probe_nop(file->fd, site.offset))
		return EZPROF_ELF_LONG_NOP;
	elf->sites[elf->site_count++] = site;
	return EZPROF_ELF_PROBES;
}

/* NONE: somebody else's probe, or a newer one of ours. */
static enum ezprof_elf_verdict take_stapsdt(const struct ezprof_elf_file *file,
					    const struct note *note, struct ezprof_elf *elf)
{
	uint64_t addresses[3]; /* location, base, semaphore */
	const char *at = (const char *)note->desc + sizeof(addresses);
	const char *end = (const char *)note->desc + note->desc_bytes;
	const char *provider, *name, *arguments;

	if (note->desc_bytes < sizeof(addresses))
		return EZPROF_ELF_DAMAGED;
	memcpy(addresses, note->desc, sizeof(addresses));
	provider = next_string(&at, end);
	name = provider ? next_string(&at, end) : NULL;
	arguments = name ? next_string(&at, end) : NULL;
	if (!arguments)
		return EZPROF_ELF_DAMAGED;
	if (strcmp(provider, EZ_PROVIDER) != 0)
		return EZPROF_ELF_NONE;
	for (uint32_t i = 0; i < EZ_PROBE_COUNT; i++) {
		if (strcmp(name, probe_names[i]) != 0)
			continue;
		if (!take_arguments(elf, i, arguments))
			return EZPROF_ELF_ARGUMENTS;
		return add_site(file, elf, i, addresses);
	}
	return EZPROF_ELF_NONE;
}

static void take_registry(const struct ezprof_elf_file *file, const struct note *note,
			  struct ezprof_elf *elf)
{
	struct ez_registry_note desc;

	if (note->desc_bytes != sizeof(desc))
		return;
	memcpy(&desc, note->desc, sizeof(desc));
	if (desc.version != EZ_REGISTRY_VERSION)
		return;
	elf->has_registry = true;
	elf->registry_vaddr = desc.registry + shift_of(file, desc.base);
}

static enum ezprof_elf_verdict take_notes(const struct ezprof_elf_file *file, struct notes *notes,
					  struct ezprof_elf *elf)
{
	enum ezprof_elf_verdict verdict = EZPROF_ELF_NONE;
	struct note note;
	int more;

	while ((more = next_note(notes, &note)) > 0) {
		enum ezprof_elf_verdict one = EZPROF_ELF_NONE;

		if (note_is(&note, "stapsdt", STAPSDT_TYPE))
			one = take_stapsdt(file, &note, elf);
		else if (note_is(&note, EZ_REGISTRY_NOTE_NAME, EZ_REGISTRY_NOTE_TYPE))
			take_registry(file, &note, elf);
		if (one > EZPROF_ELF_NONE)
			return one;
		if (one == EZPROF_ELF_PROBES)
			verdict = one;
	}
	return more < 0 ? EZPROF_ELF_DAMAGED : verdict;
}

static int read_section(const struct ezprof_elf_file *file, const Elf64_Shdr *section,
			struct notes *ret_notes)
{
	struct notes notes = {.bytes = section->sh_size};
	int err;

	if (section->sh_size > NOTES_BYTES_MAX)
		return -EBADMSG;
	notes.data = malloc(notes.bytes + 1);
	if (!notes.data)
		return -ENOMEM;
	err = ezprof_elf_file_read(file, section->sh_offset, notes.data, notes.bytes);
	if (err)
		free(notes.data);
	else
		*ret_notes = notes;
	return err;
}

static bool is_ours(const struct ezprof_elf_file *file, const Elf64_Shdr *section)
{
	const char *name = ezprof_elf_file_section_name(file, section);

	return section->sh_type == SHT_NOTE &&
	       (strcmp(name, ".note.stapsdt") == 0 || strcmp(name, ".note.ezprof") == 0);
}

/* Reads what there is to be read of our notes. */
static int read_notes(const struct ezprof_elf_file *file, struct ezprof_elf *elf)
{
	struct notes notes;
	int err;

	for (uint32_t i = 0; file->sections && i < file->header.e_shnum; i++) {
		enum ezprof_elf_verdict one;

		if (!is_ours(file, &file->sections[i]))
			continue;
		err = read_section(file, &file->sections[i], &notes);
		if (err)
			return err;
		one = take_notes(file, &notes, elf);
		free(notes.data);
		if (one != EZPROF_ELF_NONE)
			elf->verdict = one;
		if (one > EZPROF_ELF_NONE)
			return 0;
	}
	return 0;
}

static int by_probe(const void *a, const void *b)
{
	const struct ezprof_elf_site *x = a, *y = b;

	return (x->probe > y->probe) - (x->probe < y->probe);
}

static int read_elf(const struct ezprof_elf_file *file, struct ezprof_elf *elf)
{
	int err = read_segments(file, elf);

	if (!err)
		err = read_notes(file, elf);
	if (!err && elf->verdict == EZPROF_ELF_PROBES)
		qsort(elf->sites, elf->site_count, sizeof(elf->sites[0]), by_probe);
	else
		elf->site_count = 0;
	return err;
}

/* What is wrong with the file is a verdict about it; the rest is an error of reading. */
static int verdict_of(int err, enum ezprof_elf_verdict *verdict)
{
	static const struct {
		int err;
		enum ezprof_elf_verdict verdict;
	} known[] = {{-ENOEXEC, EZPROF_ELF_NOT_ELF},
		     {-EXDEV, EZPROF_ELF_CLASS32},
		     {-EPROTO, EZPROF_ELF_MACHINE},
		     {-EBADMSG, EZPROF_ELF_DAMAGED}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (err == known[i].err) {
			*verdict = known[i].verdict;
			return 0;
		}
	}
	return err;
}

int ezprof_elf_read(int fd, struct ezprof_elf *ret_elf)
{
	struct ezprof_elf elf = {.verdict = EZPROF_ELF_NONE};
	struct ezprof_elf_file file;
	int err = ezprof_elf_file_open(fd, &file);

	if (!err) {
		err = read_elf(&file, &elf);
		ezprof_elf_file_close(&file);
	}
	err = verdict_of(err, &elf.verdict);
	if (!err)
		*ret_elf = elf;
	return err;
}

#define VERDICT_TEXT(name, text) [EZPROF_ELF_##name] = (text),

const char *ezprof_elf_verdict_text(enum ezprof_elf_verdict verdict)
{
	static const char *const texts[] = {EZPROF_ELF_VERDICT_LIST(VERDICT_TEXT)};

	return (size_t)verdict < sizeof(texts) / sizeof(texts[0]) ? texts[verdict] : "";
}

unsigned int ezprof_elf_missing(const struct ezprof_elf *elf, unsigned int first, unsigned int end,
				char *ret_names, size_t bytes)
{
	unsigned int missing = 0;
	size_t used = 0;

	ret_names[0] = '\0';
	for (unsigned int probe = first; probe < end && probe < PROBE_NAMES; probe++) {
		bool found = false;

		for (uint32_t i = 0; i < elf->site_count && !found; i++)
			found = elf->sites[i].probe == probe;
		if (found)
			continue;
		missing++;
		if (used < bytes)
			used += (size_t)snprintf(ret_names + used, bytes - used, "%s%s",
						 used ? ", " : "", probe_names[probe]);
	}
	return missing;
}

int ezprof_elf_bias(const struct ezprof_elf *elf, uint64_t map_start, uint64_t map_offset,
		    uint64_t *ret_bias)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (uint32_t i = 0; i < elf->segment_count; i++) {
		const struct ezprof_elf_segment *s = &elf->segments[i];

		/* A mapping begins at a page's beginning, which may lie before the segment's. */
		if ((s->flags & PF_X) && map_offset >= s->offset / page * page &&
		    map_offset < s->offset + s->file_bytes) {
			*ret_bias = map_start - map_offset - (s->vaddr - s->offset);
			return 0;
		}
	}
	return -ENOENT;
}
