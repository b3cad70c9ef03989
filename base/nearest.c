/* SPDX-License-Identifier: MIT */
#include "nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define BYTES_MAX 96u
/* Words are no spelling error: those come first. */
#define WORDS 100u
#define WORDS_BYTES_MIN 3u

static unsigned int min2(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, changes and neighbours that changed places, by three rows of the table. */
static unsigned int distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned int rows[3][BYTES_MAX + 1];

	for (size_t i = 0; i <= n; i++) {
		unsigned int *row = rows[i % 3], *above = rows[(i + 2) % 3];
		const unsigned int *second = rows[(i + 1) % 3];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= m; j++) {
			if (!i) {
				row[j] = (unsigned int)j;
				continue;
			}
			row[j] = min2(min2(above[j], row[j - 1]) + 1,
				      above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min2(row[j], second[j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

/* Bytes up to the next word, then those of the word itself. */
static size_t skip_to_word(const char *text)
{
	size_t n = 0;

	while (text[n] && !isalnum((unsigned char)text[n]))
		n++;
	return n;
}

static size_t word_bytes(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]))
		n++;
	return n;
}

static bool words_in_order(const char *typed, const char *name)
{
	size_t n;

	typed += skip_to_word(typed);
	name += skip_to_word(name);
	while (*typed && *name) {
		n = word_bytes(typed);
		if (strncmp(typed, name, n) == 0) {
			typed += n;
			typed += skip_to_word(typed);
		}
		name += word_bytes(name);
		name += skip_to_word(name);
	}
	return !*typed;
}

unsigned int ez_nearness(const char *typed, const char *name)
{
	size_t n = strlen(typed), m = strlen(name);
	unsigned int errors;

	if (!n || n > BYTES_MAX || m > BYTES_MAX)
		return EZ_FAR;
	errors = distance(typed, n, name, m);
	if (errors <= (n <= 3 ? 1u : n <= 8 ? 2u : 3u))
		return errors;
	if (n < WORDS_BYTES_MIN || !words_in_order(typed, name))
		return EZ_FAR;
	return WORDS + errors;
}
