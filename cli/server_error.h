/* SPDX-License-Identifier: MIT */
/* What a failed request to a graph server means to whoever typed its address. */
#ifndef EZPROF_SERVER_ERROR_H
#define EZPROF_SERVER_ERROR_H

/* A sentence without an end, for a negative errno of protocol/client. Static. */
const char *ezprof_server_error(int err);

#endif
