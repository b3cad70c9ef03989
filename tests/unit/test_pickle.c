/* SPDX-License-Identifier: MIT */
/*
 * Pickles of plain values and arrays: byte for byte what CPython 3.11 and numpy 1.24 write, and
 * read back. The expected bytes were recorded from these.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pickle.h"

static size_t from_hex(const char *hex, uint8_t *out)
{
	size_t n = strlen(hex) / 2;

	for (size_t i = 0; i < n; i++) {
		unsigned int byte;

		assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
		out[i] = (uint8_t)byte;
	}
	return n;
}

/* Checks what was written, reads it back, and tries the reader at every cut. */
static struct ez_value check(struct ez_buffer *buffer, const char *hex)
{
	uint8_t expected[512];
	size_t n = from_hex(hex, expected);
	struct ez_value value, ignored;

	assert_int_equal(buffer->err, 0);
	assert_int_equal(buffer->len, n);
	assert_memory_equal(buffer->data, expected, n);
	assert_int_equal(ez_pickle_read(buffer->data, n, &value), 0);
	for (size_t cut = 0; cut < n; cut++)
		assert_int_equal(ez_pickle_read(buffer->data, cut, &ignored), -EBADMSG);
	ez_buffer_reset(buffer);
	return value;
}

static void test_plain(void **state)
{
	struct ez_buffer b;
	struct ez_value value;

	(void)state;
	ez_buffer_init(&b, 1000);
	ez_pickle_none(&b);
	assert_int_equal(check(&b, "80054e2e").type, EZ_VALUE_NONE);
	ez_pickle_bool(&b, true);
	value = check(&b, "8005882e");
	assert_int_equal(value.type, EZ_VALUE_BOOL);
	assert_true(value.boolean);
	ez_pickle_bool(&b, false);
	assert_false(check(&b, "8005892e").boolean);
	ez_pickle_f64(&b, 1.5);
	value = check(&b, "8005950a00000000000000473ff80000000000002e");
	assert_int_equal(value.type, EZ_VALUE_FLOAT);
	assert_true(value.number == 1.5);
	ez_buffer_free(&b);
}

static void test_ints(void **state)
{
	static const struct {
		int64_t value;
		const char *hex;
	} cases[] = {
		{0, "80054b002e"},
		{255, "80054bff2e"},
		{256, "80059504000000000000004d00012e"},
		{65535, "80059504000000000000004dffff2e"},
		{65536, "80059506000000000000004a000001002e"},
		{-1, "80059506000000000000004affffffff2e"},
		{-129, "80059506000000000000004a7fffffff2e"},
		{INT32_MIN, "80059506000000000000004a000000802e"},
		{2147483648, "80059508000000000000008a0500000080002e"},
		{-2147483649, "80059508000000000000008a05ffffff7fff2e"},
		{INT64_C(1) << 40, "80059509000000000000008a060000000000012e"},
		{INT64_MAX, "8005950b000000000000008a08ffffffffffffff7f2e"},
		{INT64_MIN, "8005950b000000000000008a0800000000000000802e"},
	};
	struct ez_buffer b;

	(void)state;
	ez_buffer_init(&b, 1000);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ez_value value;

		ez_pickle_i64(&b, cases[i].value);
		value = check(&b, cases[i].hex);
		assert_int_equal(value.type, EZ_VALUE_INT);
		assert_true(value.integer == cases[i].value);
	}
	ez_buffer_free(&b);
}

static void test_texts(void **state)
{
	struct ez_buffer b;
	struct ez_value value;

	(void)state;
	ez_buffer_init(&b, 1000);
	ez_pickle_bytes(&b, "hello", 5);
	value = check(&b, "8005950900000000000000430568656c6c6f942e");
	assert_int_equal(value.type, EZ_VALUE_BYTES);
	ez_pickle_bytes(&b, "hello", 5);
	assert_int_equal(ez_pickle_read(b.data, b.len, &value), 0);
	assert_memory_equal(value.text.data, "hello", 5);
	ez_buffer_reset(&b);
	assert_int_equal(ez_pickle_str(&b, "h\xc3\xa4", 3), 0);
	assert_int_equal(check(&b, "80059507000000000000008c0368c3a4942e").type, EZ_VALUE_STR);
	assert_int_equal(ez_pickle_str(&b, "", 0), 0);
	assert_int_equal(check(&b, "80059504000000000000008c00942e").type, EZ_VALUE_STR);
	assert_int_equal(ez_pickle_str(&b, "\xff", 1), -EILSEQ);
	assert_int_equal(ez_pickle_str(&b, "\xed\xa0\x80", 3), -EILSEQ);
	assert_int_equal(b.len, 0);
	ez_buffer_free(&b);
}

static void test_long_texts(void **state)
{
	static const size_t sizes[] = {255, 256, 65535, 65536, 1 << 20};
	char *text = calloc(1, 1 << 20);
	struct ez_buffer b;

	(void)state;
	ez_buffer_init(&b, 2 << 20);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct ez_value value;

		ez_pickle_bytes(&b, text, sizes[i]);
		assert_int_equal(ez_pickle_read(b.data, b.len, &value), 0);
		assert_int_equal(value.text.len, sizes[i]);
		/* CPython closes the frame in front of a long text and opens none for two bytes. */
		assert_int_equal(b.data[2], sizes[i] < 65536 ? 0x95 : 0x42);
		ez_buffer_reset(&b);
	}
	ez_buffer_free(&b);
	free(text);
}

static const char float32_8[] =
	"8005956a000000000000008c126e756d70792e636f72652e6e756d65726963948c0b5f66726f6d627566666572"
	"94939428978c056e756d7079948c0564747970659493948c02663494898887945294284b038c013c944e4e4e4a"
	"ffffffff4affffffff4b007494624b0885948c014394749452942e";

static void test_array(void **state)
{
	struct ez_ndarray array = {.dtype = "<f4", .n_dims = 1, .shape = {8}};
	struct ez_buffer b;
	struct ez_value value;

	(void)state;
	ez_buffer_init(&b, 1000);
	assert_int_equal(ez_pickle_ndarray(&b, &array), 0);
	value = check(&b, float32_8);
	assert_int_equal(value.type, EZ_VALUE_NDARRAY);
	assert_string_equal(value.array.dtype, "<f4");
	assert_int_equal(value.array.n_dims, 1);
	assert_int_equal(value.array.shape[0], 8);
	assert_int_equal(value.array.data_bytes, 32);
	assert_false(value.array.fortran_order);
	ez_buffer_free(&b);
}

static void test_array_shapes(void **state)
{
	struct ez_ndarray array = {.dtype = "|b1", .fortran_order = true};
	struct ez_buffer b;
	struct ez_value value;

	(void)state;
	ez_buffer_init(&b, 1000);
	for (uint32_t n = 0; n <= EZ_NDIM_MAX; n++) {
		array.n_dims = n;
		for (uint32_t i = 0; i < n; i++)
			array.shape[i] = i < 3 ? 300 * (i + 1) : 1;
		ez_buffer_reset(&b);
		assert_int_equal(ez_pickle_ndarray(&b, &array), 0);
		assert_int_equal(ez_pickle_read(b.data, b.len, &value), 0);
		assert_int_equal(value.array.n_dims, n);
		assert_memory_equal(value.array.shape, array.shape, n * sizeof(uint64_t));
		assert_true(value.array.fortran_order);
	}
	array.n_dims = 2;
	array.shape[0] = array.shape[1] = UINT64_C(1) << 32;
	assert_int_equal(ez_pickle_ndarray(&b, &array), -EINVAL);
	array.n_dims = EZ_NDIM_MAX + 1;
	assert_int_equal(ez_pickle_ndarray(&b, &array), -EINVAL);
	ez_buffer_free(&b);
}

static void test_dtypes(void **state)
{
	static const char *const bad[] = {"",	 "f4",	 "<f3",	  "<f 4", "|f4",  "<b1", "<U4",
					  "<M8", "<c8x", "<c160", "<",	  "<f4 ", "<f",	 NULL};

	(void)state;
	for (int i = 0; bad[i]; i++)
		assert_int_equal(ez_dtype_bytes(bad[i]), 0);
	assert_int_equal(ez_dtype_bytes("<c16"), 16);
	assert_int_equal(ez_dtype_bytes("|u1"), 1);
	assert_int_equal(ez_dtype_bytes(">i8"), 8);
}

static void test_something_else(void **state)
{
	static const char *const pickles[] = {
		"80055d942e", /* [] */
		"80055d9428"
		"4b01"
		"4b02"
		"652e", /* [1, 2] */
		"80058c026f738c0673797374656d9328"
		"8c02696474522e",		/* os.system("id"), which never runs */
		"80058a09ffffffffffffffff002e", /* 2**64 - 1 */
	};
	static const char *const broken[] = {
		"",
		"80",
		"2e",
		"80052e",
		"8005282e",
		"8005522e",
		"8005"
		"4b01"
		"622e",
		"800568002e",
		"80058cff612e",
		"8005420000008061",
		"80054b0175",
		"800594722e",
		"80056affffffff2e",
	};
	struct ez_value value;
	uint8_t data[64];

	(void)state;
	for (size_t i = 0; i < sizeof(pickles) / sizeof(*pickles); i++)
		assert_int_equal(ez_pickle_read(data, from_hex(pickles[i], data), &value),
				 -ENOTSUP);
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++)
		assert_int_equal(ez_pickle_read(data, from_hex(broken[i], data), &value), -EBADMSG);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),  cmocka_unit_test(test_ints),
		cmocka_unit_test(test_texts),  cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_array),  cmocka_unit_test(test_array_shapes),
		cmocka_unit_test(test_dtypes), cmocka_unit_test(test_something_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
