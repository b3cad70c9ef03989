/* SPDX-License-Identifier: MIT */
#include "pickle_write.h"

#include <string.h>

void ez_pickle_put_str_header(struct ez_buffer *out, size_t len)
{
	int width = len < 256 ? 1 : 8;

	ez_put_u8(out, width == 1 ? EZ_OP_SHORT_BINUNICODE : EZ_OP_BINUNICODE8);
	if (width == 1)
		ez_put_u8(out, (uint8_t)len);
	else
		ez_put_u64(out, len);
}

void ez_pickle_put_str(struct ez_buffer *out, const char *data, size_t len)
{
	ez_pickle_put_str_header(out, len);
	ez_buffer_append(out, data, len);
}

void ez_pickle_put_text(struct ez_buffer *out, const char *text)
{
	ez_pickle_put_str(out, text, strlen(text));
}

void ez_pickle_put_global(struct ez_buffer *out, const char *module, const char *name)
{
	ez_pickle_put_text(out, module);
	ez_pickle_put_text(out, name);
	ez_put_u8(out, EZ_OP_STACK_GLOBAL);
}
