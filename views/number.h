/* SPDX-License-Identifier: MIT */
/* A figure of a document: unknown, a whole number kept exactly, or a real one. Any thread. */
#ifndef EZPROF_NUMBER_H
#define EZPROF_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"

struct ezprof_number {
	enum { EZPROF_UNKNOWN, EZPROF_WHOLE, EZPROF_REAL } kind;
	union {
		uint64_t whole;
		double real;
	};
};

static inline struct ezprof_number ezprof_whole(uint64_t value)
{
	return (struct ezprof_number){.kind = EZPROF_WHOLE, .whole = value};
}

static inline struct ezprof_number ezprof_real(double value)
{
	return (struct ezprof_number){.kind = EZPROF_REAL, .real = value};
}

static inline bool ezprof_known(struct ezprof_number number)
{
	return number.kind != EZPROF_UNKNOWN;
}

/* otherwise: where the number is unknown. */
static inline double ezprof_as_double(struct ezprof_number number, double otherwise)
{
	switch (number.kind) {
	case EZPROF_WHOLE:
		return (double)number.whole;
	case EZPROF_REAL:
		return number.real;
	default:
		return otherwise;
	}
}

/* Appends it as JSON has it (the shortest text that reads back the same); nothing if unknown. */
void ezprof_number_put(struct ez_buffer *out, struct ezprof_number number);

/* Appends printf-style text; the buffer's sticky error tells of a failure. */
__attribute__((format(printf, 2, 3))) void ezprof_put(struct ez_buffer *out, const char *format,
						      ...);

#endif
