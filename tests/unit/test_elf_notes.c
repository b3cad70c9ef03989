/* SPDX-License-Identifier: MIT */
/*
 * Our own executable, which has every probe, read as an object file: as it is, and damaged in every
 * way that comes to mind (then the answer may be any verdict, but no crash).
 */
#include "elf_file.h"
#include "elf_notes.h"
#include "probes.h"
#include "proc_maps.h"
#include "registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern struct ez_registry ez_registry_table;

/* A copy of the executable that can be changed. */
struct copy {
	unsigned char *data;
	size_t bytes;
	int fd; /* a memfd with the same content once copy_read() has been called */
};

static struct copy copy_self(void)
{
	struct copy c = {.fd = memfd_create("elf", MFD_CLOEXEC)};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;

	assert_true(c.fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	c.bytes = (size_t)st.st_size;
	c.data = malloc(c.bytes);
	assert_non_null(c.data);
	assert_int_equal(pread(fd, c.data, c.bytes, 0), c.bytes);
	close(fd);
	return c;
}

static void copy_free(struct copy *c)
{
	free(c->data);
	close(c->fd);
}

static enum ezprof_elf_verdict copy_read(struct copy *c, struct ezprof_elf *ret_elf)
{
	assert_int_equal(ftruncate(c->fd, 0), 0);
	assert_int_equal(pwrite(c->fd, c->data, c->bytes, 0), c->bytes);
	assert_int_equal(ezprof_elf_read(c->fd, ret_elf), 0);
	return ret_elf->verdict;
}

static Elf64_Shdr *section_of(struct copy *c, const char *name)
{
	Elf64_Ehdr *h = (void *)c->data;
	Elf64_Shdr *s = (void *)(c->data + h->e_shoff);
	const char *names = (const char *)c->data + s[h->e_shstrndx].sh_offset;

	for (unsigned int i = 0; i < h->e_shnum; i++) {
		if (strcmp(names + s[i].sh_name, name) == 0)
			return &s[i];
	}
	fail_msg("no section %s", name);
	return NULL;
}

/* Where `text` lies within the section, its NUL included. */
static unsigned char *find(struct copy *c, const char *section, const void *text, size_t bytes)
{
	const Elf64_Shdr *s = section_of(c, section);
	unsigned char *at = memmem(c->data + s->sh_offset, s->sh_size, text, bytes);

	assert_non_null(at);
	return at;
}

/* Every probe has its site, its semaphore is found in memory, and so is the registry. */
static void test_own_executable(void **state)
{
	struct ezprof_proc_maps maps;
	struct ezprof_proc_map map;
	struct ezprof_elf elf;
	struct stat st;
	enum ez_semaphore_place place;
	uint64_t bias = 1;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int maps_fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(ezprof_elf_read(fd, &elf), 0);
	assert_int_equal(elf.verdict, EZPROF_ELF_PROBES);
	assert_int_equal(elf.site_count, EZ_PROBE_COUNT);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(ezprof_proc_maps_read(maps_fd, &maps), 0);
	while (ezprof_proc_maps_next(&maps, &map)) {
		if (map.inode == st.st_ino && map.executable)
			assert_int_equal(ezprof_elf_bias(&elf, map.start, map.offset, &bias), 0);
	}
	ezprof_proc_maps_free(&maps);
	for (uint32_t i = 0; i < EZ_PROBE_COUNT; i++) {
		assert_int_equal(elf.sites[i].probe, i);
		place = ez_probe_place((enum ez_probe)i);
		assert_ptr_equal(elf.sites[i].semaphore_vaddr + bias, &ez_probe_semaphores[place]);
	}
	assert_true(elf.has_registry);
	assert_ptr_equal(elf.registry_vaddr + bias, &ez_registry_table);
	assert_int_equal(ezprof_elf_bias(&elf, 0, 1ull << 40, &bias), -ENOENT);
	close(fd);
	close(maps_fd);
}

static void test_other_files(void **state)
{
	struct ezprof_elf elf;
	int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(ezprof_elf_read(fd, &elf), 0);
	assert_int_equal(elf.verdict, EZPROF_ELF_NONE);
	assert_int_equal(elf.site_count, 0);
	close(fd);
	fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	assert_int_equal(ezprof_elf_read(fd, &elf), 0);
	assert_int_equal(elf.verdict, EZPROF_ELF_NOT_ELF);
	close(fd);
	fd = open("/", O_RDONLY | O_CLOEXEC);
	assert_int_equal(ezprof_elf_read(fd, &elf), 0);
	assert_int_equal(elf.verdict, EZPROF_ELF_NOT_ELF);
	close(fd);
	assert_int_equal(ezprof_elf_read(-1, &elf), -EBADF);
}

/* Each kind of object that must be refused, by its name. */
static void test_refused(void **state)
{
	struct copy c = copy_self();
	struct ezprof_elf good, elf;
	unsigned char *at;

	(void)state;
	assert_int_equal(copy_read(&c, &good), EZPROF_ELF_PROBES);

	c.data[good.sites[3].offset] = 0x0f;
	assert_int_equal(copy_read(&c, &elf), EZPROF_ELF_LONG_NOP);
	assert_int_equal(elf.site_count, 0);
	c.data[good.sites[3].offset] = 0x90;

	at = find(&c, ".note.stapsdt", "8@%rdx", 6);
	memcpy(at, "4@%edx", 6);
	assert_int_equal(copy_read(&c, &elf), EZPROF_ELF_PROBES);
	assert_true(elf.foreign);
	assert_non_null(strstr(elf.arguments, " 4@%edx"));
	memcpy(at, "8@%rip", 6);
	assert_int_equal(copy_read(&c, &elf), EZPROF_ELF_ARGUMENTS);
	assert_int_equal(elf.site_count, 0);
	assert_non_null(strstr(elf.arguments, " 8@%rip"));
	memcpy(at, "8@%rdx", 6);
	assert_int_equal(copy_read(&c, &elf), EZPROF_ELF_PROBES);
	assert_false(elf.foreign);

	c.data[EI_CLASS] = ELFCLASS32;
	assert_int_equal(copy_read(&c, &elf), EZPROF_ELF_CLASS32);
	c.data[EI_CLASS] = ELFCLASS64;

	((Elf64_Ehdr *)(void *)c.data)->e_machine = EM_S390;
	assert_int_equal(copy_read(&c, &elf), EZPROF_ELF_MACHINE);
	((Elf64_Ehdr *)(void *)c.data)->e_machine = EM_X86_64;

	section_of(&c, ".note.stapsdt")->sh_size += 0x10000000;
	assert_int_equal(copy_read(&c, &elf), EZPROF_ELF_DAMAGED);
	section_of(&c, ".note.stapsdt")->sh_size -= 0x10000000;

	/* Somebody else's probes, and a probe that we do not know, are not ours to attach to. */
	at = find(&c, ".note.stapsdt", "ezmsg\0callback_end", 18);
	memcpy(at + 6, "callback_foo", 12);
	assert_int_equal(copy_read(&c, &elf), EZPROF_ELF_PROBES);
	assert_int_equal(elf.site_count, EZ_PROBE_COUNT - 1);
	copy_free(&c);
}

/* Notes written before the object was moved (prelink): the base tells by how much. */
static void test_moved(void **state)
{
	const uint64_t distance = 0x7000;
	struct copy c = copy_self();
	struct ezprof_elf good, elf;
	Elf64_Shdr *notes;
	size_t at = 0;

	(void)state;
	assert_int_equal(copy_read(&c, &good), EZPROF_ELF_PROBES);
	notes = section_of(&c, ".note.stapsdt");
	while (at < notes->sh_size) {
		unsigned char *note = c.data + notes->sh_offset + at;
		uint64_t addresses[3];
		Elf64_Nhdr h;

		/* Header, "stapsdt", addresses of location, base and semaphore; not aligned to 8.
		 */
		memcpy(&h, note, sizeof(h));
		memcpy(addresses, note + sizeof(h) + 8, sizeof(addresses));
		for (int i = 0; i < 3; i++)
			addresses[i] -= distance;
		memcpy(note + sizeof(h) + 8, addresses, sizeof(addresses));
		at += sizeof(h) + 8 + ((h.n_descsz + 3) & ~3u);
	}
	assert_int_equal(copy_read(&c, &elf), EZPROF_ELF_PROBES);
	assert_memory_equal(elf.sites, good.sites, sizeof(good.sites));
	copy_free(&c);
}

/* Cut at every length that is interesting, and at many that are not. */
static void test_truncated(void **state)
{
	struct copy c = copy_self();
	struct ezprof_elf elf;
	size_t bytes = c.bytes;

	(void)state;
	for (size_t n = 0; n < bytes; n += n < 300 ? 1 : 997) {
		c.bytes = n;
		copy_read(&c, &elf);
		assert_true(elf.verdict == EZPROF_ELF_NOT_ELF || elf.verdict == EZPROF_ELF_DAMAGED);
	}
	c.bytes = bytes;
	copy_free(&c);
}

static void damage(unsigned char *at, size_t bytes)
{
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff, 4, 8, 64};

	at[(size_t)random() % bytes] =
		random() % 2 ? values[random() % 8] : (unsigned char)random();
}

/* Headers, section table and notes with a few bytes changed at random. */
static void test_damaged(void **state)
{
	struct copy c = copy_self();
	unsigned char *backup = malloc(c.bytes);
	const Elf64_Ehdr *h = (const void *)c.data;
	const struct {
		size_t at, bytes;
	} places[] = {
		{0, sizeof(*h)},
		{h->e_phoff, h->e_phnum * sizeof(Elf64_Phdr)},
		{h->e_shoff, h->e_shnum * sizeof(Elf64_Shdr)},
		{section_of(&c, ".note.stapsdt")->sh_offset,
		 section_of(&c, ".note.stapsdt")->sh_size},
		{section_of(&c, ".note.ezprof")->sh_offset,
		 section_of(&c, ".note.ezprof")->sh_size},
	};
	struct ezprof_elf elf;

	(void)state;
	assert_non_null(backup);
	memcpy(backup, c.data, c.bytes);
	srandom(7);
	for (int round = 0; round < 3000; round++) {
		size_t place = (size_t)random() % 5;
		int changes = 1 + (int)(random() % 4);
		uint64_t bias;

		while (changes--)
			damage(c.data + places[place].at, places[place].bytes);
		copy_read(&c, &elf);
		assert_true(elf.site_count <= EZPROF_ELF_SITES_MAX);
		assert_true(elf.verdict == EZPROF_ELF_PROBES || elf.site_count == 0);
		for (uint32_t i = 0; i < elf.site_count; i++)
			assert_int_equal(c.data[elf.sites[i].offset], 0x90);
		ezprof_elf_bias(&elf, (uint64_t)random() << 12, (uint64_t)random() << 3, &bias);
		memcpy(c.data + places[place].at, backup + places[place].at, places[place].bytes);
	}
	free(backup);
	copy_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_executable), cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_refused),	       cmocka_unit_test(test_moved),
		cmocka_unit_test(test_truncated),      cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
