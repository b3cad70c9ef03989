/* SPDX-License-Identifier: MIT */
#include "json_writer.h"

#include "utf8.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOUBLE_DIGITS_MAX 17

void ez_json_init(struct ez_json *json, struct ez_buffer *out)
{
	memset(json, 0, sizeof(*json));
	json->out = out;
}

/* What has to stand in front of the next value or key. */
static void separate(struct ez_json *json)
{
	uint32_t bit = UINT32_C(1) << json->depth;

	if (json->after_key) {
		json->after_key = false;
		return;
	}
	if (json->depth && (json->started & bit))
		ez_buffer_append_text(json->out, ", ");
	json->started |= bit;
}

static void open_container(struct ez_json *json, const char *bracket)
{
	assert(json->depth < EZ_JSON_DEPTH_MAX - 1);
	separate(json);
	ez_buffer_append_text(json->out, bracket);
	json->depth++;
	json->started &= ~(UINT32_C(1) << json->depth);
}

static void close_container(struct ez_json *json, const char *bracket)
{
	assert(json->depth > 0);
	json->depth--;
	ez_buffer_append_text(json->out, bracket);
}

void ez_json_object_begin(struct ez_json *json)
{
	open_container(json, "{");
}

void ez_json_object_end(struct ez_json *json)
{
	close_container(json, "}");
}

void ez_json_array_begin(struct ez_json *json)
{
	open_container(json, "[");
}

void ez_json_array_end(struct ez_json *json)
{
	close_container(json, "]");
}

static void put_escaped(struct ez_buffer *out, uint32_t code)
{
	static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *at = code && code < 0x80 ? strchr(plain, (int)code) : NULL;
	char text[16];

	if (at)
		snprintf(text, sizeof(text), "\\%c", letters[at - plain]);
	else if (code >= 0x20 && code < 0x7f)
		snprintf(text, sizeof(text), "%c", (int)code);
	else if (code < 0x10000)
		snprintf(text, sizeof(text), "\\u%04x", code);
	else
		snprintf(text, sizeof(text), "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
			 0xdc00 + ((code - 0x10000) & 0x3ff));
	ez_buffer_append_text(out, text);
}

static bool is_plain(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* What follows on the U+FFFD of a byte that is no UTF-8. */
static void put_stand_in(struct ez_buffer *out, uint8_t byte)
{
	char text[EZ_UTF8_STAND_IN_BYTES + 1];

	ez_utf8_stand_in(byte, text);
	ez_buffer_append_text(out, strchr(text, 'x'));
}

static void put_string(struct ez_buffer *out, const char *text, size_t len)
{
	const uint8_t *data = (const uint8_t *)text;
	size_t i = 0;

	ez_buffer_append_text(out, "\"");
	while (i < len) {
		size_t run = i;
		uint32_t code;

		while (run < len && is_plain(data[run]))
			run++;
		ez_buffer_append(out, data + i, run - i);
		i = run;
		if (i < len) {
			size_t took = ez_utf8_decode(data + i, len - i, &code);

			put_escaped(out, code);
			if (code == EZ_UTF8_REPLACEMENT && took == 1)
				put_stand_in(out, data[i]);
			i += took;
		}
	}
	ez_buffer_append_text(out, "\"");
}

void ez_json_key(struct ez_json *json, const char *key)
{
	separate(json);
	put_string(json->out, key, strlen(key));
	ez_buffer_append_text(json->out, ": ");
	json->after_key = true;
}

void ez_json_str_n(struct ez_json *json, const char *data, size_t len)
{
	separate(json);
	put_string(json->out, data, len);
}

void ez_json_str(struct ez_json *json, const char *text)
{
	if (text)
		ez_json_str_n(json, text, strlen(text));
	else
		ez_json_null(json);
}

void ez_json_raw(struct ez_json *json, const char *data, size_t len)
{
	separate(json);
	ez_buffer_append(json->out, data, len);
}

void ez_json_u64(struct ez_json *json, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	ez_json_raw(json, text, strlen(text));
}

void ez_json_i64(struct ez_json *json, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	ez_json_raw(json, text, strlen(text));
}

/*
 * The fewest significant digits of value (> 0) that read back the same, and the exponent of the
 * first. printf and strtod use the same decimal point whatever the locale, and only digits are
 * taken over.
 */
static size_t shortest_digits(double value, char digits[DOUBLE_DIGITS_MAX + 1], int *ret_exponent)
{
	char text[40];
	const char *p = text;
	size_t n = 0;

	/* 15 digits hold every shorter form too, except of subnormals, which have fewer to give. */
	for (int precision = value < DBL_MIN ? 0 : 14; precision < DOUBLE_DIGITS_MAX; precision++) {
		snprintf(text, sizeof(text), "%.*e", precision, value);
		if (strtod(text, NULL) == value)
			break;
	}
	for (; *p && *p != 'e'; p++)
		if (*p >= '0' && *p <= '9' && n < DOUBLE_DIGITS_MAX)
			digits[n++] = *p;
	*ret_exponent = *p == 'e' ? (int)strtol(p + 1, NULL, 10) : 0;
	while (n > 1 && digits[n - 1] == '0')
		n--;
	digits[n] = '\0';
	return n;
}

/* Python's repr: fixed notation for exponents -4 to 15, else d.ddde+XX. */
static void format_double(double value, char out[48])
{
	char digits[DOUBLE_DIGITS_MAX + 1], *p = out;
	int exponent, n;

	if (signbit(value)) {
		*p++ = '-';
		value = -value;
	}
	if (value == 0) {
		strcpy(p, "0.0");
		return;
	}
	n = (int)shortest_digits(value, digits, &exponent);
	if (exponent < -4 || exponent > 15)
		sprintf(p, "%c%s%s%s%02d", digits[0], n > 1 ? "." : "", digits + 1,
			exponent < 0 ? "e-" : "e+", abs(exponent));
	else if (exponent < 0)
		sprintf(p, "0.%.*s%s", -exponent - 1, "000", digits);
	else if (n <= exponent + 1)
		sprintf(p, "%s%.*s.0", digits, exponent + 1 - n, "000000000000000");
	else
		sprintf(p, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
}

void ez_json_f64(struct ez_json *json, double value)
{
	char text[48];

	if (!isfinite(value)) {
		ez_json_null(json);
		return;
	}
	format_double(value, text);
	ez_json_raw(json, text, strlen(text));
}

void ez_json_bool(struct ez_json *json, bool value)
{
	ez_json_raw(json, value ? "true" : "false", value ? 4 : 5);
}

void ez_json_null(struct ez_json *json)
{
	ez_json_raw(json, "null", 4);
}

void ez_json_kv_str(struct ez_json *json, const char *key, const char *text)
{
	ez_json_key(json, key);
	ez_json_str(json, text);
}

void ez_json_kv_u64(struct ez_json *json, const char *key, uint64_t value)
{
	ez_json_key(json, key);
	ez_json_u64(json, value);
}

void ez_json_kv_i64(struct ez_json *json, const char *key, int64_t value)
{
	ez_json_key(json, key);
	ez_json_i64(json, value);
}

void ez_json_kv_f64(struct ez_json *json, const char *key, double value)
{
	ez_json_key(json, key);
	ez_json_f64(json, value);
}

void ez_json_kv_bool(struct ez_json *json, const char *key, bool value)
{
	ez_json_key(json, key);
	ez_json_bool(json, value);
}

void ez_json_kv_null(struct ez_json *json, const char *key)
{
	ez_json_key(json, key);
	ez_json_null(json);
}
