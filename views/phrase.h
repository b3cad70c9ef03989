/* SPDX-License-Identifier: MIT */
/* Figures and names as people read them, appended to a sentence. */
#ifndef EZPROF_PHRASE_H
#define EZPROF_PHRASE_H

#include "model.h"

void ezprof_say_ms(struct ez_buffer *out, double ms);	    /* "0.48 ms", "21 ms", "1.3 s" */
void ezprof_say_rate(struct ez_buffer *out, double per_s);  /* "47.6 messages/s" */
void ezprof_say_share(struct ez_buffer *out, double share); /* "97 %" */
void ezprof_say_bytes(struct ez_buffer *out, double bytes); /* "4.2 MB" */

/* A publisher's topic. Names in sentences are shortened to 120 columns, as visible_name.h has it.
 */
void ezprof_say_publisher(struct ez_buffer *out, const struct ezprof_object *publisher);

/*
 * "SINK:work (pid 4242)", "worker-slow of samples (pid 4242, host lab2)": the task, else the
 * handle, where there is none the topic; its process; its host where it isn't the document's.
 */
void ezprof_say_subscriber(struct ez_buffer *out, const struct ezprof_model *model,
			   const struct ezprof_object *subscriber);

/* The same without the process. */
void ezprof_say_subscriber_name(struct ez_buffer *out, const struct ezprof_model *model,
				const struct ezprof_object *subscriber);

/* ": sudo ezprof-bpf attach", ", on host lab2: sudo ezprof-bpf attach": where the object lives. */
void ezprof_say_attach(struct ez_buffer *out, const struct ezprof_model *model,
		       const struct ezprof_object *object);

/* "shm", "tcp", "local"; "?" for what is no word of that kind; "" where it isn't known. */
const char *ezprof_transport_word(const struct ezprof_object *object);

/* A whole name, as visible_name.h has it. */
void ezprof_say_name(struct ez_buffer *out, const char *name);

#endif
