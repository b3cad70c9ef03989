/* SPDX-License-Identifier: MIT */
#include "screen_text.h"
#include "text_width.h"
#include "utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECES_STEP 256u
#define LINES_STEP 64u
#define PRINT_BYTES 512

void ezprof_screen_init(struct ezprof_screen *screen, unsigned int columns)
{
	memset(screen, 0, sizeof(*screen));
	screen->columns = columns;
	ez_buffer_init(&screen->text, SIZE_MAX / 2);
}

void ezprof_screen_free(struct ezprof_screen *screen)
{
	ez_buffer_free(&screen->text);
	free(screen->pieces);
	free(screen->lines);
	memset(screen, 0, sizeof(*screen));
}

/*
 * Controls (C1 too: some terminals obey them in UTF-8), line and paragraph separators, what
 * reverses the direction of text or has no width of its own and joins nothing.
 */
static bool is_harmful(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad ||
	       (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x206f) || code == 0x061c || code == 0xfeff ||
	       (code >= 0xfff9 && code <= 0xfffb) || (code >= 0xe000 && code <= 0xf8ff) ||
	       code >= 0xe0000;
}

size_t ezprof_screen_character(const char *data, size_t len, char ret_shown[5],
			       unsigned int *ret_columns)
{
	uint32_t code;
	size_t took = ez_utf8_decode(data, len, &code);

	if (is_harmful(code) || (code == EZ_UTF8_REPLACEMENT && took == 1)) {
		memcpy(ret_shown, "\xef\xbf\xbd", 4);
		*ret_columns = 1;
		return took;
	}
	memcpy(ret_shown, data, took);
	ret_shown[took] = '\0';
	*ret_columns = ezprof_text_columns(data, took);
	return took;
}

static bool add_piece(struct ezprof_screen *screen, size_t begin, enum ezprof_style style)
{
	struct ezprof_piece *grown;

	if (screen->n_pieces % PIECES_STEP == 0) {
		grown = reallocarray(screen->pieces, screen->n_pieces + PIECES_STEP,
				     sizeof(*grown));
		if (!grown) {
			screen->failed = true;
			return false;
		}
		screen->pieces = grown;
	}
	screen->pieces[screen->n_pieces++] =
		(struct ezprof_piece){begin, screen->text.len - begin, style};
	return true;
}

void ezprof_screen_put(struct ezprof_screen *screen, enum ezprof_style style, const char *text)
{
	size_t at = 0, n = strlen(text), begin = screen->text.len;
	unsigned int columns;
	char shown[5];

	while (at < n) {
		at += ezprof_screen_character(text + at, n - at, shown, &columns);
		if (screen->columns && screen->at + columns > screen->columns)
			break;
		ez_buffer_append_text(&screen->text, shown);
		screen->at += columns;
	}
	if (screen->text.err)
		screen->failed = true;
	else if (screen->text.len > begin)
		add_piece(screen, begin, style);
}

void ezprof_screen_print(struct ezprof_screen *screen, enum ezprof_style style, const char *format,
			 ...)
{
	char text[PRINT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	ezprof_screen_put(screen, style, text);
}

void ezprof_screen_pad(struct ezprof_screen *screen, unsigned int column)
{
	if (screen->at < column)
		ezprof_screen_print(screen, EZPROF_STYLE_PLAIN, "%*s", (int)(column - screen->at),
				    "");
}

void ezprof_screen_end_line(struct ezprof_screen *screen, bool selected)
{
	struct ezprof_screen_line *grown;

	if (screen->n_lines % LINES_STEP == 0) {
		grown = reallocarray(screen->lines, screen->n_lines + LINES_STEP, sizeof(*grown));
		if (!grown) {
			screen->failed = true;
			return;
		}
		screen->lines = grown;
	}
	screen->lines[screen->n_lines++] = (struct ezprof_screen_line){
		screen->line_first, screen->n_pieces - screen->line_first, selected};
	screen->line_first = screen->n_pieces;
	screen->at = 0;
}

/* What fits of a word into the line, or some of it: how many bytes. */
static size_t put_word(struct ezprof_screen *screen, enum ezprof_style style, const char *text,
		       size_t bytes)
{
	char word[PRINT_BYTES];
	size_t at = 0, took;
	unsigned int columns, used = screen->at;
	char shown[5];

	while (at < bytes && at < sizeof(word) - 5) {
		took = ezprof_screen_character(text + at, bytes - at, shown, &columns);
		if (screen->columns && used + columns > screen->columns)
			break;
		memcpy(word + at, text + at, took);
		used += columns;
		at += took;
	}
	word[at] = '\0';
	ezprof_screen_put(screen, style, word);
	return at;
}

/* A line more, unless there are enough. */
static bool next_line(struct ezprof_screen *screen, unsigned int indent, size_t *lines,
		      size_t max_lines)
{
	if ((*lines)++ == max_lines)
		return false;
	ezprof_screen_end_line(screen, false);
	ezprof_screen_pad(screen, indent);
	return true;
}

void ezprof_screen_wrap(struct ezprof_screen *screen, enum ezprof_style style, const char *text,
			unsigned int indent, size_t max_lines)
{
	size_t lines = 1, bytes, put, more;
	bool fresh = true;

	if (screen->columns && indent >= screen->columns)
		indent = 0;
	for (; *text; text += strspn(text, " ")) {
		bytes = strcspn(text, " ");
		if (!fresh && screen->columns &&
		    screen->at + 1 + ezprof_text_columns(text, bytes) > screen->columns) {
			if (!next_line(screen, indent, &lines, max_lines))
				return;
		} else if (!fresh) {
			ezprof_screen_put(screen, style, " ");
		}
		/* A word too long for a line is broken where the line ends. */
		for (put = 0; put < bytes; put += more) {
			more = put_word(screen, style, text + put, bytes - put);
			if (more)
				continue;
			/* Not even one character fits into a line? */
			if (screen->at <= indent || !next_line(screen, indent, &lines, max_lines))
				return;
		}
		fresh = false;
		text += bytes;
	}
}

void ezprof_screen_copy(struct ezprof_screen *screen, const struct ezprof_screen *from,
			size_t first, size_t n)
{
	size_t l, p;

	for (l = first; l < from->n_lines && l - first < n; l++) {
		const struct ezprof_screen_line *line = &from->lines[l];

		for (p = line->first; p < line->first + line->n; p++) {
			const struct ezprof_piece *piece = &from->pieces[p];
			size_t begin = screen->text.len;

			ez_buffer_append(&screen->text, from->text.data + piece->begin, piece->len);
			if (screen->text.err)
				screen->failed = true;
			else
				add_piece(screen, begin, piece->style);
		}
		ezprof_screen_end_line(screen, line->selected);
	}
}

void ezprof_screen_cut(struct ezprof_screen *screen, size_t lines)
{
	if (screen->n_lines > lines)
		screen->n_lines = lines;
}

void ezprof_screen_plain(const struct ezprof_screen *screen, struct ez_buffer *out)
{
	size_t l, p;

	for (l = 0; l < screen->n_lines; l++) {
		const struct ezprof_screen_line *line = &screen->lines[l];

		for (p = line->first; p < line->first + line->n; p++)
			ez_buffer_append(out, screen->text.data + screen->pieces[p].begin,
					 screen->pieces[p].len);
		while (out->len && out->data[out->len - 1] == ' ')
			out->len--;
		ez_buffer_append_text(out, "\n");
	}
	if (screen->failed && !out->err)
		out->err = screen->text.err ? screen->text.err : -ENOMEM;
}
