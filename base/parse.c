/* SPDX-License-Identifier: MIT */
#include "parse.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int ez_parse_u64(const char *text, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (!*text)
		return -EINVAL;
	for (const char *p = text; *p; p++)
		if (!is_digit(*p))
			return -EINVAL;
	for (const char *p = text; *p; p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return -ERANGE;
		value = value * 10 + digit;
	}
	*ret_value = value;
	return 0;
}

int ez_parse_u64_range(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value)
{
	uint64_t value;
	int err = ez_parse_u64(text, &value);

	if (err)
		return err;
	if (value < min || value > max)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int ez_parse_pid(const char *text, pid_t *ret_pid)
{
	uint64_t value;
	int err = ez_parse_u64_range(text, 1, INT_MAX, &value);

	if (!err)
		*ret_pid = (pid_t)value;
	return err;
}

int ez_parse_port(const char *text, uint16_t *ret_port)
{
	uint64_t value;
	int err = ez_parse_u64_range(text, 0, UINT16_MAX, &value);

	if (!err)
		*ret_port = (uint16_t)value;
	return err;
}

/* digits [. digits] [e [+-] digits], with a digit before or after the point */
static bool is_decimal(const char *p)
{
	int digits = 0;

	for (; is_digit(*p); p++)
		digits++;
	if (*p == '.')
		for (p++; is_digit(*p); p++)
			digits++;
	if (!digits)
		return false;
	if (*p == 'e' || *p == 'E') {
		p++;
		if (*p == '+' || *p == '-')
			p++;
		if (!is_digit(*p))
			return false;
		while (is_digit(*p))
			p++;
	}
	return !*p;
}

int ez_parse_double(const char *text, double *ret_value)
{
	locale_t c_locale;
	double value;

	if (!is_decimal(text))
		return -EINVAL;
	/* The program may run under a locale whose decimal point is a comma. */
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c_locale)
		return -ENOMEM;
	value = strtod_l(text, NULL, c_locale);
	freelocale(c_locale);
	if (!isfinite(value))
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int ez_parse_window_s(const char *text, double *ret_seconds)
{
	double seconds;
	int err = ez_parse_double(text, &seconds);

	if (err)
		return err;
	if (seconds < EZ_WINDOW_MIN_S || seconds > EZ_WINDOW_MAX_S)
		return -ERANGE;
	*ret_seconds = seconds;
	return 0;
}

/*
 * Only what can stand in a name or literal, so that a host can be printed and sent on without
 * escaping.
 */
static bool is_host(const char *host, size_t len, bool bracketed)
{
	if (!len)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = host[i];
		bool alnum = is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (alnum || c == '.' || c == '-' || c == '_')
			continue;
		if (bracketed && (c == ':' || c == '%'))
			continue;
		return false;
	}
	return true;
}

int ez_parse_address_n(const char *text, size_t len, struct ez_address *ret_address)
{
	char copy[EZ_ADDRESS_BYTES];

	if (len >= sizeof(copy) || memchr(text, '\0', len))
		return -EINVAL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return ez_parse_address(copy, ret_address);
}

int ez_parse_address(const char *text, struct ez_address *ret_address)
{
	bool bracketed = text[0] == '[';
	const char *host = bracketed ? text + 1 : text;
	const char *host_end = bracketed ? strchr(text, ']') : strchr(text, ':');
	size_t host_len;
	uint16_t port;
	int err;

	if (!host_end)
		return -EINVAL;
	host_len = (size_t)(host_end - host);
	if (bracketed && *++host_end != ':')
		return -EINVAL;
	if (host_len >= EZ_HOST_BYTES || !is_host(host, host_len, bracketed))
		return -EINVAL;
	err = ez_parse_port(host_end + 1, &port);
	if (err)
		return err;
	memset(ret_address, 0, sizeof(*ret_address));
	memcpy(ret_address->host, host, host_len);
	ret_address->port = port;
	return 0;
}

int ez_address_from_env(struct ez_address *ret_address)
{
	const char *text = getenv(EZ_ADDRESS_VARIABLE);

	if (!text || !*text)
		return -ENOENT;
	return ez_parse_address(text, ret_address);
}

void ez_address_format(const struct ez_address *address, char out[EZ_ADDRESS_BYTES])
{
	bool bracketed = strchr(address->host, ':');

	snprintf(out, EZ_ADDRESS_BYTES, "%s%.*s%s:%u", bracketed ? "[" : "", EZ_HOST_BYTES - 1,
		 address->host, bracketed ? "]" : "", (unsigned int)address->port);
}
