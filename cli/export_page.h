/* SPDX-License-Identifier: MIT */
/* A page's text that several answers send, freed with the last of them. One thread. */
#ifndef EZPROF_EXPORT_PAGE_H
#define EZPROF_EXPORT_PAGE_H

#include <event2/buffer.h>

#include "export_view.h"

struct ezprof_export_page;

/* NULL: no memory. ezprof_export_page_put() it. */
struct ezprof_export_page *ezprof_export_page_new(const struct ezprof_export_facts *facts,
						  enum ezprof_dialect dialect);
void ezprof_export_page_put(struct ezprof_export_page *page); /* NULL is fine */

/* Appends it without copying. -ENOMEM. */
int ezprof_export_page_send(struct ezprof_export_page *page, struct evbuffer *to);

#endif
