/* SPDX-License-Identifier: MIT */
#include "export_news.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ezprof_export_news_tell(struct ezprof_export_news *news, const char *messages)
{
	const char *last = news->last ? news->last : "";

	if (!messages)
		messages = "";
	if (strcmp(last, messages) == 0)
		return;
	fputs(*messages ? messages : "ezprof export: the graph answers again\n", stderr);
	free(news->last);
	news->last = strdup(messages);
}

void ezprof_export_news_free(struct ezprof_export_news *news)
{
	free(news->last);
	news->last = NULL;
}
