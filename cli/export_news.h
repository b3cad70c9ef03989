/* SPDX-License-Identifier: MIT */
/*
 * Why there are no figures, on stderr: when it changes, not at each scrape. One thread;
 * zero-initialised.
 */
#ifndef EZPROF_EXPORT_NEWS_H
#define EZPROF_EXPORT_NEWS_H

struct ezprof_export_news {
	char *last;
};

/* messages: lines; "" or NULL = all is well, which is news where it wasn't. */
void ezprof_export_news_tell(struct ezprof_export_news *news, const char *messages);
void ezprof_export_news_free(struct ezprof_export_news *news);

#endif
