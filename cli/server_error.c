/* SPDX-License-Identifier: MIT */
#include "server_error.h"

#include <errno.h>
#include <string.h>

const char *ezprof_server_error(int err)
{
	switch (err) {
	case -ECONNREFUSED:
		return "nobody listens there";
	case -EADDRNOTAVAIL:
		return "there is no such host";
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		return "no way leads to that host";
	case -EPROTO:
		return "something answers there, but it is no graph server";
	case -EMSGSIZE:
		return "its answer is longer than a graph server's is";
	case -ETIMEDOUT:
		return "no graph server answers there";
	case -ENODATA:
	case -ECONNRESET:
		return "it closed the connection without an answer";
	default:
		return strerror(-err);
	}
}
