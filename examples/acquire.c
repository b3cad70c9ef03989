/* SPDX-License-Identifier: MIT */
/*
 * A device driver: acquire TOPIC BLOCKS RATE_HZ. Writes blocks of samples straight into the buffers
 * from which they are sent. A real one has its device in place of the sine, and of the sleep.
 */
#include <ezmsg/ezmsg.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHANNELS 8
#define SAMPLES 25

static void sample(float *data, uint64_t block)
{
	for (uint64_t i = 0; i < SAMPLES * CHANNELS; i++)
		data[i] = sinf((float)(block * SAMPLES + i / CHANNELS) * 0.01f) + 1.0f;
}

static int acquire(struct ez_publisher *publisher, unsigned long blocks, double rate_hz)
{
	const uint64_t shape[] = {SAMPLES, CHANNELS};
	struct timespec period = {.tv_nsec = (long)(1e9 / rate_hz)};
	struct ez_slot slot;
	int err = 0;

	for (unsigned long block = 0; block < blocks && !err; block++) {
		err = ez_publish_begin_array(publisher, "f4", shape, 2, EZ_FOREVER, &slot);
		if (err)
			break;
		sample(slot.data, block);
		err = ez_publish_commit(&slot, slot.bytes);
		nanosleep(&period, NULL);
	}
	return err;
}

int main(int argc, char **argv)
{
	struct ez_context *context;
	struct ez_publisher *publisher;
	int err;

	if (argc != 4) {
		fprintf(stderr, "usage: acquire TOPIC BLOCKS RATE_HZ\n");
		return 2;
	}
	err = ez_context_create(NULL, &context);
	if (err) {
		fprintf(stderr, "acquire: no graph server (`ezprof serve` starts one): %s\n",
			strerror(-err));
		return 1;
	}
	err = ez_publisher_create(context, argv[1], NULL, &publisher);
	if (!err)
		err = acquire(publisher, strtoul(argv[2], NULL, 10), fmax(atof(argv[3]), 2));
	/* Nobody gets less because we leave. */
	if (!err)
		err = ez_sync(context, EZ_FOREVER);
	if (err)
		fprintf(stderr, "acquire: %s\n", strerror(-err));
	ez_context_destroy(context);
	return err ? 1 : 0;
}
