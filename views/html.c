/* SPDX-License-Identifier: MIT */
#include "html.h"
#include "number.h"
#include "text_width.h"
#include "utf8.h"
#include "visible_name.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PRINT_BYTES 512

/* What HTML can't hold, not even by its number. */
static bool is_impossible(uint32_t code)
{
	return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0) ||
	       code == EZ_UTF8_REPLACEMENT || (code & 0xfffe) == 0xfffe ||
	       (code >= 0xfdd0 && code < 0xfdf0);
}

static void put_code(struct ez_buffer *out, const char *text, size_t n, uint32_t code)
{
	if (code == '&')
		ez_buffer_append_text(out, "&amp;");
	else if (code == '<')
		ez_buffer_append_text(out, "&lt;");
	else if (code == '>')
		ez_buffer_append_text(out, "&gt;");
	else if (code == '"')
		ez_buffer_append_text(out, "&quot;");
	else if (code == '\'')
		ez_buffer_append_text(out, "&#39;");
	else if (is_impossible(code))
		ez_buffer_append_text(out, "\xef\xbf\xbd");
	else
		ez_buffer_append(out, text, n);
}

static void put_escaped(struct ez_buffer *out, const char *text, size_t n)
{
	uint32_t code;

	while (n) {
		size_t took = ez_utf8_decode(text, n, &code);

		put_code(out, text, took, code);
		text += took;
		n -= took;
	}
}

void ezprof_html_text(struct ez_buffer *out, const char *text)
{
	put_escaped(out, text, strlen(text));
}

void ezprof_html_print(struct ez_buffer *out, const char *format, ...)
{
	char text[PRINT_BYTES] = "";
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	ezprof_html_text(out, text);
}

void ezprof_html_words(struct ez_buffer *out, struct ez_buffer *words)
{
	if (words->err && !out->err)
		out->err = words->err;
	if (words->len)
		put_escaped(out, (const char *)words->data, words->len);
	ez_buffer_reset(words);
}

void ezprof_html_name(struct ez_buffer *out, const char *name, unsigned int columns)
{
	struct ez_buffer shortened, whole;

	ez_buffer_init(&shortened, SIZE_MAX / 2);
	ez_buffer_init(&whole, SIZE_MAX / 2);
	ezprof_put_shortened(&shortened, name, columns);
	ez_buffer_append_text(out, "<bdi");
	if (ezprof_text_columns(name, strlen(name)) > columns) {
		ez_buffer_append_text(out, " title=\"");
		ez_visible_name(&whole, name);
		ezprof_html_words(out, &whole);
		ez_buffer_append_text(out, "\"");
	}
	ez_buffer_append_text(out, ">");
	ezprof_html_words(out, &shortened);
	ez_buffer_append_text(out, "</bdi>");
	ez_buffer_free(&shortened);
	ez_buffer_free(&whole);
}
