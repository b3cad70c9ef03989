/* SPDX-License-Identifier: MIT */
/* Names as people read them: nothing unseen, no two alike, and it can be undone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "utf8.h"
#include "visible_name.h"

static char *shown(const char *name, void (*show)(struct ez_buffer *out, const char *name))
{
	struct ez_buffer out;
	char *text;
	size_t len;

	ez_buffer_init(&out, SIZE_MAX / 2);
	show(&out, name);
	ez_buffer_append(&out, "", 1);
	text = ez_buffer_steal(&out, &len);
	assert_non_null(text);
	return text;
}

static void check(const char *name, const char *expected)
{
	char *text = shown(name, ez_visible_name);

	assert_string_equal(text, expected);
	free(text);
}

static void what_is_seen_stays(void **state)
{
	(void)state;
	check("", "");
	check("SYS/SRC OUT \"a\" 'b' <c>", "SYS/SRC OUT \"a\" 'b' <c>");
	check("Gr\u00fc\u00dfe/\u65e5\u672c\u8a9e/\u05e9\u05dc\u05d5\u05dd/\U0001f600",
	      "Gr\u00fc\u00dfe/\u65e5\u672c\u8a9e/\u05e9\u05dc\u05d5\u05dd/\U0001f600");
}

static void what_is_not_seen_is_said(void **state)
{
	(void)state;
	check("a\nb\tc\x1b[2J\x7f", "a\\x0ab\\x09c\\x1b[2J\\x7f");
	check("back\\slash", "back\\\\slash");
	check(" a", "\\x20a");
	check("a ", "a\\x20");
	check("a b  c", "a b\\x20\\x20c");
	check("e\u0301", "e\\u0301");
	check("\xc2\x9b"
	      "2J",
	      "\\u009b2J");
	check("a\u202eb\u2028c\u200bd\ufeff", "a\\u202eb\\u2028c\\u200bd\\ufeff");
	check("\u212b\u00c5", "\\u212b\u00c5");
	check("x\U000e0041", "x\\U000e0041");
	check("\xff\xc3(\xed\xa0\x80", "\\xff\\xc3(\\xed\\xa0\\x80");
	check("cut \xe2\x82", "cut \\xe2\\x82");
	/* Repaired before. */
	check("a\xef\xbf\xbdxff", "a\\xff");
	check("\xef\xbf\xbdx7f \xef\xbf\xbdxFF \xef\xbf\xbdxf",
	      "\xef\xbf\xbdx7f \xef\xbf\xbdxFF \xef\xbf\xbdxf");
}

/* Each code point: one that may move a cursor is never there itself. */
static void every_code_point(void **state)
{
	(void)state;
	for (uint32_t code = 1; code < 0x110000; code += code < 0x3000 ? 1 : 7) {
		char name[8] = {0};
		uint32_t back;
		char *text;

		if (code >= 0xd800 && code < 0xe000)
			continue;
		if (code < 0x80)
			name[0] = (char)code;
		else if (code < 0x800)
			memcpy(name, (char[]){(char)(0xc0 | code >> 6), (char)(0x80 | (code & 63))},
			       2);
		else if (code < 0x10000)
			memcpy(name,
			       (char[]){(char)(0xe0 | code >> 12), (char)(0x80 | (code >> 6 & 63)),
					(char)(0x80 | (code & 63))},
			       3);
		else
			memcpy(name,
			       (char[]){(char)(0xf0 | code >> 18), (char)(0x80 | (code >> 12 & 63)),
					(char)(0x80 | (code >> 6 & 63)),
					(char)(0x80 | (code & 63))},
			       4);
		text = shown(name, ez_visible_name);
		if (strcmp(text, name) == 0) {
			ez_utf8_decode(text, strlen(text), &back);
			assert_true(code > 0x20 && code != 0x7f && !(code >= 0x80 && code <= 0xa0));
		} else if (code == '\\') {
			assert_string_equal(text, "\\\\");
		} else {
			assert_int_equal(strtoul(text + 2, NULL, 16), code);
		}
		free(text);
	}
}

static void json_stays_the_same(void **state)
{
	static const char plain[] = "{\"a\": [\"\u00fc\\n\", 1.5]}";
	char *text = shown(plain, ez_visible_json);

	(void)state;
	assert_string_equal(text, plain);
	free(text);
	text = shown("[\"\xc2\x9b\x7f\u2028\U000e0041 \xff\"]", ez_visible_json);
	assert_string_equal(text, "[\"\\u009b\\u007f\\u2028\\udb40\\udc41 \xff\"]");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_seen_stays),
		cmocka_unit_test(what_is_not_seen_is_said),
		cmocka_unit_test(every_code_point),
		cmocka_unit_test(json_stays_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
