/* SPDX-License-Identifier: MIT */
/* Which argument strings are ours, which libbpf can read, and which nobody can. */
#include "usdt_arguments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

struct row {
	const char *text;
	unsigned int count;
	enum ezprof_usdt_arguments expected;
};

#define CANONICAL EZPROF_ARGUMENTS_CANONICAL
#define READABLE EZPROF_ARGUMENTS_READABLE
#define UNREADABLE EZPROF_ARGUMENTS_UNREADABLE

#if defined(__x86_64__)
static const struct row rows[] = {
	{"8@%rdi 8@%rsi 8@%rdx", 3, CANONICAL},
	{"8@%rdi 8@%rsi 8@%rdx 8@%rcx 8@%r8 8@%r9", 6, CANONICAL},
	{"8@%rdi 8@%rsi 8@%rdx", 4, UNREADABLE},
	{"8@%rdi 8@%rsi 8@%rdx 8@%rcx", 3, UNREADABLE},
	{"8@%rsi 8@%rdi 8@%rdx", 3, READABLE},
	{"-8@%rdi 8@%rsi 8@%rdx", 3, READABLE},
	{"8@%rdi -4@%r12d 1@%bl", 3, READABLE},
	{"8@-24(%rbp) 8@16(%rsp) 8@0(%rax)", 3, READABLE},
	{"8@$42 -4@$-1 8@%r15", 3, READABLE},
	{"8@(%rax)", 1, UNREADABLE},
	{"8@%rip", 1, UNREADABLE},
	{"8@16(%rip)", 1, UNREADABLE},
	{"8@counter(%rip)", 1, UNREADABLE},
	{"8@-8(%rdx,%rax,8)", 1, UNREADABLE},
	{"8@(%rdx,%rax,8)", 1, UNREADABLE},
	{"8f@%xmm0", 1, UNREADABLE},
	{"8@%xmm0", 1, UNREADABLE},
	{"16@%rdi", 1, UNREADABLE},
	{"3@%rdi", 1, UNREADABLE},
	{"8%rdi", 1, UNREADABLE},
	{"8@", 1, UNREADABLE},
	{"@%rdi", 1, UNREADABLE},
	{"", 1, UNREADABLE},
	{"8@$", 1, UNREADABLE},
	{"8@%", 1, UNREADABLE},
	{"8@-(%rax)", 1, UNREADABLE},
	{"8@12345678901(%rax)", 1, UNREADABLE},
	{"8@16(%rax", 1, UNREADABLE},
	{"8@%rdi  8@%rsi", 2, UNREADABLE},
	{"8@%rdi ", 1, UNREADABLE},
};
#elif defined(__aarch64__)
static const struct row rows[] = {
	{"8@x0 8@x1 8@x2", 3, CANONICAL}, {"8@x0 8@x1 8@x2", 4, UNREADABLE},
	{"8@x1 8@x0 8@x2", 3, READABLE},  {"8@[sp, 16] -4@[x3] 8@42", 3, READABLE},
	{"8@[sp, x2]", 1, UNREADABLE},	  {"8@w3", 1, UNREADABLE},
	{"8@[sp, 16", 1, UNREADABLE},	  {"8@d0", 1, UNREADABLE},
};
#endif

static void every_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum ezprof_usdt_arguments judged =
			ezprof_usdt_arguments_judge(rows[i].text, rows[i].count);

		if (judged != rows[i].expected)
			fail_msg("'%s' (%u): %d, not %d", rows[i].text, rows[i].count, judged,
				 rows[i].expected);
	}
}

static void long_ones(void **state)
{
	char text[4096];

	(void)state;
	memset(text, '8', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(ezprof_usdt_arguments_judge(text, 1), UNREADABLE);
	memcpy(text, "8@[", 3);
	assert_int_equal(ezprof_usdt_arguments_judge(text, 1), UNREADABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row),
		cmocka_unit_test(long_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
