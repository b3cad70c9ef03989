/* SPDX-License-Identifier: MIT */
/*
 * Payloads that a Python process can receive: pickles (protocol 5) of None, bool, int, float, str,
 * bytes and of numpy arrays whose data travels as an out-of-band buffer. The reader recognises
 * exactly these; it never calls or imports what a pickle names. Any thread.
 */
#ifndef EZ_PICKLE_H
#define EZ_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "frame.h"

#define EZ_NDIM_MAX 32

/* A numpy array without its data, which is the message's next buffer. */
struct ez_ndarray {
	char dtype[8]; /* byte order, kind, item size: "<f4", "|b1", ">i8", "<c16" */
	bool fortran_order;
	uint32_t n_dims; /* 0 to EZ_NDIM_MAX */
	uint64_t shape[EZ_NDIM_MAX];
	uint64_t data_bytes; /* product of shape x item size; filled in by the reader, not needed by
				the writer */
};

enum ez_value_type {
	EZ_VALUE_NONE,
	EZ_VALUE_BOOL,
	EZ_VALUE_INT,
	EZ_VALUE_FLOAT,
	EZ_VALUE_STR,
	EZ_VALUE_BYTES,
	EZ_VALUE_NDARRAY,
};

struct ez_value {
	enum ez_value_type type;
	union {
		bool boolean;
		int64_t integer;
		double number;
		struct ez_str text; /* STR (UTF-8) and BYTES; borrowed from the pickle */
		struct ez_ndarray array;
	};
};

/* Append one whole pickle, byte for byte what CPython 3.11 writes. */
void ez_pickle_none(struct ez_buffer *out);
void ez_pickle_bool(struct ez_buffer *out, bool value);
void ez_pickle_i64(struct ez_buffer *out, int64_t value);
void ez_pickle_f64(struct ez_buffer *out, double value);
void ez_pickle_bytes(struct ez_buffer *out, const void *data, size_t len);

/*
 * -EILSEQ, nothing written, unless data is valid UTF-8 (a Python receiver would drop the link);
 * else 0.
 */
int ez_pickle_str(struct ez_buffer *out, const char *data, size_t len);

/*
 * The pickle of an array, to be followed by its data as the message's next buffer. -EINVAL for a
 * dtype or shape that isn't one; else 0.
 */
int ez_pickle_ndarray(struct ez_buffer *out, const struct ez_ndarray *array);

/* The item size of a dtype text, 0 if it isn't one that is supported (kinds b i u f c). */
uint32_t ez_dtype_bytes(const char *dtype);

/* Reads one pickle: 0; -ENOTSUP = something else than the above; -EBADMSG = malformed; -ENOMEM. */
int ez_pickle_read(const void *data, size_t len, struct ez_value *ret_value);

#endif
