/* SPDX-License-Identifier: MIT */
#include "exposition.h"

#include <string.h>

void ezprof_put_escaped(struct ez_buffer *out, const char *text)
{
	for (;;) {
		size_t plain = strcspn(text, "\n\"\\");

		ez_buffer_append(out, text, plain);
		text += plain;
		if (!*text)
			return;
		ezprof_put(out, "\\%c", *text == '\n' ? 'n' : *text);
		text++;
	}
}

/* The older dialect knows no escaped quote in a help text. */
static void put_help(struct ez_buffer *out, enum ezprof_dialect dialect, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			ez_buffer_append_text(out, "\\n");
		else if (*text == '\\' || (*text == '"' && dialect == EZPROF_OPENMETRICS))
			ezprof_put(out, "\\%c", *text);
		else
			ez_buffer_append(out, text, 1);
	}
}

void ezprof_put_label(struct ez_buffer *labels, const char *name, const char *value)
{
	if (!*value)
		return;
	ezprof_put(labels, "%s%s=\"", labels->len ? "," : "{", name);
	ezprof_put_escaped(labels, value);
	ez_buffer_append_text(labels, "\"");
}

static const char *ending(enum ezprof_family_type type)
{
	static const char *const endings[] = {"", "_total", "_info"};

	return endings[type];
}

static const char *type_word(enum ezprof_dialect dialect, enum ezprof_family_type type)
{
	static const char *const words[] = {"gauge", "counter", "info"};

	if (dialect == EZPROF_TEXT_0_0_4 && type == EZPROF_FAMILY_INFO)
		type = EZPROF_FAMILY_GAUGE;
	return words[type];
}

/* OpenMetrics wants the unit to be the name's end. */
static bool ends_in(const char *name, const char *unit)
{
	size_t n = strlen(name), u = strlen(unit);

	return u && n > u && name[n - u - 1] == '_' && strcmp(name + n - u, unit) == 0;
}

void ezprof_put_family(struct ez_buffer *out, enum ezprof_dialect dialect, const char *name,
		       enum ezprof_family_type type, const char *unit, const char *help)
{
	const char *end = dialect == EZPROF_OPENMETRICS ? "" : ending(type);

	ezprof_put(out, "# TYPE %s%s %s\n", name, end, type_word(dialect, type));
	if (dialect == EZPROF_OPENMETRICS && ends_in(name, unit))
		ezprof_put(out, "# UNIT %s %s\n", name, unit);
	ezprof_put(out, "# HELP %s%s ", name, end);
	put_help(out, dialect, help);
	ez_buffer_append_text(out, "\n");
}

void ezprof_put_sample_name(struct ez_buffer *out, const char *name, enum ezprof_family_type type)
{
	ez_buffer_append_text(out, name);
	ez_buffer_append_text(out, ending(type));
}

void ezprof_put_scaled(struct ez_buffer *out, struct ezprof_number number, double factor)
{
	if (factor == 1.0)
		ezprof_number_put(out, number);
	else
		ezprof_number_put(out, ezprof_real(ezprof_as_double(number, 0.0) * factor));
}

void ezprof_put_end(struct ez_buffer *out, enum ezprof_dialect dialect)
{
	if (dialect == EZPROF_OPENMETRICS)
		ez_buffer_append_text(out, "# EOF\n");
}
