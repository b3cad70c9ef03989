/* SPDX-License-Identifier: MIT */
/* `ezprof export --textfile`: a file for the textfile collector of Prometheus' node_exporter. */
#ifndef EZPROF_EXPORT_FILE_H
#define EZPROF_EXPORT_FILE_H

#include "export_server.h"

/*
 * Writes it once (interval_s 0), or each interval until a signal, after which it is removed: nobody
 * keeps its figures up to date any more. A reader sees a whole file or none. Returns an exit
 * status.
 */
int ezprof_export_file(const struct ezprof_export_settings *settings, const char *path,
		       double interval_s);

#endif
