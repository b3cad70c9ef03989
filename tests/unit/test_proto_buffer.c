/* SPDX-License-Identifier: MIT */
/* Protobuf's wire format, byte by byte. */
#include "proto_buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void proto_fields(void **state)
{
	static const unsigned char expected[] = {0x08, 0xac, 0x02, 0x12, 0x85, 0x80, 0x80, 0x00,
						 0x1a, 0x03, 'a',  'b',	 'c',  0xf9, 0x02, 1,
						 2,    0,    0,	   0,	 0,    0,    0};
	struct ezprof_proto p = {0};
	size_t begun;

	(void)state;
	ezprof_proto_number(&p, 1, 300);
	begun = ezprof_proto_begin(&p, 2);
	ezprof_proto_text(&p, 3, "abc");
	ezprof_proto_end(&p, begun);
	ezprof_proto_fixed64(&p, 47, 0x201);
	assert_int_equal(p.bytes, sizeof(expected));
	assert_memory_equal(p.data, expected, sizeof(expected));
	assert_false(p.failed);
	ezprof_proto_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(proto_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
