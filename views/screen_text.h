/* SPDX-License-Identifier: MIT */
/*
 * Lines of styled text for a terminal or a file: what a painter paints. No line is wider than the
 * screen; characters that would move a cursor, reverse text or show nothing are replaced. Pure; one
 * thread.
 */
#ifndef EZPROF_SCREEN_TEXT_H
#define EZPROF_SCREEN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "buffer.h"

/* What a piece of text is; how it looks is up to the painter, and never all that tells it. */
enum ezprof_style {
	EZPROF_STYLE_PLAIN,
	EZPROF_STYLE_TITLE,
	EZPROF_STYLE_HEADING,
	EZPROF_STYLE_FAINT,
	EZPROF_STYLE_GAUGE,
	EZPROF_STYLE_NOTE,
	EZPROF_STYLE_ADVICE,
	EZPROF_STYLE_PROBLEM,
	EZPROF_STYLE_COUNT
};

struct ezprof_piece {
	size_t begin, len; /* bytes of the text */
	enum ezprof_style style;
};

struct ezprof_screen_line {
	size_t first, n; /* pieces */
	bool selected;
};

struct ezprof_screen {
	unsigned int columns; /* 0 = lines may be of any width */
	struct ez_buffer text;
	struct ezprof_piece *pieces;
	struct ezprof_screen_line *lines;
	size_t n_pieces, n_lines;
	unsigned int at; /* column of the line that is being written */
	size_t line_first;
	bool failed; /* no memory: something is missing */
};

void ezprof_screen_init(struct ezprof_screen *screen, unsigned int columns);
void ezprof_screen_free(struct ezprof_screen *screen);

/* Appends to the line; what doesn't fit is cut. Invalid UTF-8 is replaced. */
void ezprof_screen_put(struct ezprof_screen *screen, enum ezprof_style style, const char *text);

/* The same, printf-style. */
__attribute__((format(printf, 3, 4))) void
ezprof_screen_print(struct ezprof_screen *screen, enum ezprof_style style, const char *format, ...);

/* Blanks up to a column; none if it is there already. */
void ezprof_screen_pad(struct ezprof_screen *screen, unsigned int column);

void ezprof_screen_end_line(struct ezprof_screen *screen, bool selected);

/* Words of a text over several lines, the later ones indented; at most max_lines, 0 = all. */
void ezprof_screen_wrap(struct ezprof_screen *screen, enum ezprof_style style, const char *text,
			unsigned int indent, size_t max_lines);

/* Appends so many lines of another screen, from one on. */
void ezprof_screen_copy(struct ezprof_screen *screen, const struct ezprof_screen *from,
			size_t first, size_t n);

/* Keeps the first lines only. */
void ezprof_screen_cut(struct ezprof_screen *screen, size_t lines);

/* All lines as plain text; blanks at their ends are left out. */
void ezprof_screen_plain(const struct ezprof_screen *screen, struct ez_buffer *out);

/*
 * The character at data (len >= 1), made harmless: what to show for it, terminated, and its
 * columns. Returns how many bytes it took.
 */
size_t ezprof_screen_character(const char *data, size_t len, char ret_shown[5],
			       unsigned int *ret_columns);

#endif
