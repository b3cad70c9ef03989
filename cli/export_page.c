/* SPDX-License-Identifier: MIT */
#include "export_page.h"

#include <errno.h>
#include <stdlib.h>

struct ezprof_export_page {
	struct ez_buffer text;
	unsigned int references;
};

struct ezprof_export_page *ezprof_export_page_new(const struct ezprof_export_facts *facts,
						  enum ezprof_dialect dialect)
{
	struct ezprof_export_page *page = calloc(1, sizeof(*page));

	if (!page)
		return NULL;
	page->references = 1;
	ez_buffer_init(&page->text, SIZE_MAX / 2);
	ezprof_view_export(&page->text, facts, dialect);
	if (page->text.err) {
		ezprof_export_page_put(page);
		return NULL;
	}
	return page;
}

void ezprof_export_page_put(struct ezprof_export_page *page)
{
	if (!page || --page->references)
		return;
	ez_buffer_free(&page->text);
	free(page);
}

static void on_sent(const void *data, size_t n, void *arg)
{
	(void)data;
	(void)n;
	ezprof_export_page_put(arg);
}

int ezprof_export_page_send(struct ezprof_export_page *page, struct evbuffer *to)
{
	if (evbuffer_add_reference(to, page->text.data, page->text.len, on_sent, page))
		return -ENOMEM;
	page->references++;
	return 0;
}
