/* SPDX-License-Identifier: MIT */
#include "number.h"
#include "json_writer.h"

#include <stdarg.h>
#include <stdio.h>

void ezprof_number_put(struct ez_buffer *out, struct ezprof_number number)
{
	struct ez_json json;

	ez_json_init(&json, out);
	if (number.kind == EZPROF_WHOLE)
		ez_json_u64(&json, number.whole);
	else if (number.kind == EZPROF_REAL)
		ez_json_f64(&json, number.real);
}

void ezprof_put(struct ez_buffer *out, const char *format, ...)
{
	va_list arguments, again;
	uint8_t *to;
	int n;

	va_start(arguments, format);
	va_copy(again, arguments);
	n = vsnprintf(NULL, 0, format, arguments);
	to = n < 0 ? NULL : ez_buffer_reserve(out, (size_t)n + 1);
	if (to) {
		vsnprintf((char *)to, (size_t)n + 1, format, again);
		out->len += (size_t)n;
	}
	va_end(again);
	va_end(arguments);
}
