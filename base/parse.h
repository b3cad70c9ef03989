/* SPDX-License-Identifier: MIT */
/*
 * Strict, locale-independent parsing of what people and environments hand us: the whole text is the
 * value or it is an error. No leading blanks, no sign, no empty text, no trailing junk, no hex, no
 * nan or inf. All functions: any thread; 0, -EINVAL (not such a value) or -ERANGE (outside the
 * allowed range); ret_ parameters are written on success only.
 */
#ifndef EZ_PARSE_H
#define EZ_PARSE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EZ_HOST_BYTES 256 /* longest DNS name (253) and its terminator */
#define EZ_ADDRESS_BYTES (EZ_HOST_BYTES + 8)

#define EZ_DEFAULT_ADDRESS "127.0.0.1:25978"
#define EZ_ADDRESS_VARIABLE "EZMSG_GRAPHSERVER_ADDR"

/* What a window of measurement may be, in seconds; outside it the programs refuse. */
#define EZ_WINDOW_MIN_S 0.15
#define EZ_WINDOW_MAX_S 16.0
#define EZ_WINDOW_DEFAULT_S 2.0

struct ez_address {
	char host[EZ_HOST_BYTES]; /* name or literal, an IPv6 literal without its brackets */
	uint16_t port;		  /* 0 = any, where the caller allows it */
};

int ez_parse_u64(const char *text, uint64_t *ret_value);
int ez_parse_u64_range(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value);
int ez_parse_pid(const char *text, pid_t *ret_pid);	 /* 1 to INT_MAX */
int ez_parse_port(const char *text, uint16_t *ret_port); /* 0 to 65535 */

/*
 * Decimal number with optional fraction and exponent: "2", "0.5", "1e3". -ERANGE if it overflows a
 * double.
 */
int ez_parse_double(const char *text, double *ret_value);

/* Seconds from EZ_WINDOW_MIN_S to EZ_WINDOW_MAX_S. */
int ez_parse_window_s(const char *text, double *ret_seconds);

/* "host:port" with a name, an IPv4 literal or an IPv6 literal in brackets. */
int ez_parse_address(const char *text, struct ez_address *ret_address);

/* The same for text that isn't terminated, such as a string of the wire. */
int ez_parse_address_n(const char *text, size_t len, struct ez_address *ret_address);

/*
 * EZMSG_GRAPHSERVER_ADDR; -ENOENT if it is unset or empty. Not while another thread changes the
 * environment.
 */
int ez_address_from_env(struct ez_address *ret_address);

/* The inverse of ez_parse_address(); out always ends terminated. */
void ez_address_format(const struct ez_address *address, char out[EZ_ADDRESS_BYTES]);

#endif
