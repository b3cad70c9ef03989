/* SPDX-License-Identifier: MIT */
/*
 * What clients send to a graph server, one function per request, appended to a buffer. Pure; the
 * answers are parsed with frame.h.
 */
#ifndef EZ_REQUEST_H
#define EZ_REQUEST_H

#include <stdint.h>

#include "buffer.h"

/* Limits on strings of the wire; a peer that announces more is refused. */
#define EZ_TOPIC_BYTES_MAX 4096
#define EZ_VERSION_BYTES 64	      /* of the greeting, with a terminator */
#define EZ_NAME_BYTES_MAX 256	      /* ids, addresses, segment names, versions */
#define EZ_UPDATE_BYTES_MAX (4 << 20) /* a list of some 110,000 publishers */
#define EZ_DAG_BYTES_MAX (64 << 20)
#define EZ_PROFILE_BYTES_MAX (64 << 20)

void ez_request_publish(struct ez_buffer *out, const char *topic);
void ez_request_subscribe(struct ez_buffer *out, const char *topic);
void ez_request_connect(struct ez_buffer *out, const char *from, const char *to);
void ez_request_disconnect(struct ez_buffer *out, const char *from, const char *to);
void ez_request_channel(struct ez_buffer *out, const char *publisher_id);
void ez_request_shm_create(struct ez_buffer *out, uint64_t num_buffers, uint64_t buffer_bytes);
void ez_request_shm_attach(struct ez_buffer *out, const char *name);
void ez_request_profile(struct ez_buffer *out, uint64_t window_ms);

/* HELLO: who we are. role is "agent", "client" or "probe"; the pid is the caller's. */
void ez_request_hello(struct ez_buffer *out, const char *program, const char *role);

/*
 * The mark on a publisher or channel link of ours (unsolicited PROFILE_DATA): the server may ask
 * this link.
 */
void ez_request_link_mark(struct ez_buffer *out, const char *program);

#endif
