/* SPDX-License-Identifier: MIT */
#include "usdt_arguments.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define ARGUMENT_BYTES_MAX 63u
#define OFFSET_DIGITS_MAX 9u

#if defined(__x86_64__)
static const char *const canonical[] = {"8@%rdi", "8@%rsi", "8@%rdx", "8@%rcx", "8@%r8", "8@%r9"};
/* Of libbpf's registers those whose content is no address of code. */
static const char *const registers[] = {
	"rax",	"eax",	"ax",	"al",	"rbx",	"ebx",	"bx",	"bl",	"rcx",	"ecx",	"cx",
	"cl",	"rdx",	"edx",	"dx",	"dl",	"rsi",	"esi",	"si",	"sil",	"rdi",	"edi",
	"di",	"dil",	"rbp",	"ebp",	"bp",	"bpl",	"rsp",	"esp",	"sp",	"spl",	"r8",
	"r8d",	"r8w",	"r8b",	"r9",	"r9d",	"r9w",	"r9b",	"r10",	"r10d", "r10w", "r10b",
	"r11",	"r11d", "r11w", "r11b", "r12",	"r12d", "r12w", "r12b", "r13",	"r13d", "r13w",
	"r13b", "r14",	"r14d", "r14w", "r14b", "r15",	"r15d", "r15w", "r15b"};
#elif defined(__aarch64__)
static const char *const canonical[] = {"8@x0", "8@x1", "8@x2", "8@x3", "8@x4", "8@x5"};
static const char *const registers[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",
					"x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
					"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
					"x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp"};
#endif

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static bool is_register(const char *text, size_t n)
{
	for (size_t i = 0; i < COUNT(registers); i++) {
		if (strlen(registers[i]) == n && memcmp(registers[i], text, n) == 0)
			return true;
	}
	return false;
}

/* Length of a decimal number with or without a minus; 0: there is none, or one too long. */
static size_t number_length(const char *text)
{
	size_t sign = *text == '-', digits = 0;

	while (isdigit((unsigned char)text[sign + digits]))
		digits++;
	return digits && digits <= OFFSET_DIGITS_MAX ? sign + digits : 0;
}

#if defined(__x86_64__)
/* "%rax", "-16(%rbp)", "$42". */
static bool is_place(const char *text)
{
	size_t n = strlen(text), number;

	if (text[0] == '%')
		return is_register(text + 1, n - 1);
	if (text[0] == '$')
		return number_length(text + 1) == n - 1 && n > 1;
	number = number_length(text);
	return number && n > number + 3 && memcmp(text + number, "(%", 2) == 0 &&
	       text[n - 1] == ')' && is_register(text + number + 2, n - number - 3);
}
#elif defined(__aarch64__)
/* "x3", "[sp, 16]", "[x3]", "42". */
static bool is_place(const char *text)
{
	size_t n = strlen(text);
	const char *comma = strchr(text, ',');

	if (text[0] != '[')
		return is_register(text, n) || (n && number_length(text) == n);
	if (text[n - 1] != ']')
		return false;
	if (!comma)
		return is_register(text + 1, n - 2);
	return is_register(text + 1, (size_t)(comma - text) - 1) && comma[1] == ' ' &&
	       number_length(comma + 2) == n - 1 - (size_t)(comma + 2 - text);
}
#endif

/* "-4@%eax": size, minus where it is signed, place. */
static bool is_readable(const char *text)
{
	if (*text == '-')
		text++;
	return *text && strchr("1248", *text) && text[1] == '@' && is_place(text + 2);
}

/* Ends at a blank that begins the next one: a place may hold blanks itself ("[sp, 16]"). */
static size_t argument_length(const char *text)
{
	size_t n = 0;
	bool bracket = false;

	for (; text[n] && (bracket || text[n] != ' '); n++) {
		if (text[n] == '[')
			bracket = true;
		else if (text[n] == ']')
			bracket = false;
	}
	return n;
}

enum ezprof_usdt_arguments ezprof_usdt_arguments_judge(const char *text, unsigned int count)
{
	enum ezprof_usdt_arguments worst = EZPROF_ARGUMENTS_CANONICAL;
	char one[ARGUMENT_BYTES_MAX + 1];

	for (unsigned int i = 0; i < count; i++) {
		size_t n = argument_length(text);

		if (n > ARGUMENT_BYTES_MAX || i >= COUNT(canonical))
			return EZPROF_ARGUMENTS_UNREADABLE;
		memcpy(one, text, n);
		one[n] = '\0';
		if (!is_readable(one))
			return EZPROF_ARGUMENTS_UNREADABLE;
		if (strcmp(one, canonical[i]) != 0)
			worst = EZPROF_ARGUMENTS_READABLE;
		text += n;
		if (i + 1 < count && *text++ != ' ')
			return EZPROF_ARGUMENTS_UNREADABLE;
	}
	return *text ? EZPROF_ARGUMENTS_UNREADABLE : worst;
}
