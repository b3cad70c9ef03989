/* SPDX-License-Identifier: MIT */
/*
 * Memory for messages that came by tcp, placed so that aligned values are (prelude.h). A channel
 * keeps what it used and uses it again: at most as many as its publisher has buffers are out at
 * once. The caller's lock guards a pool.
 */
#ifndef EZ_RX_HEAP_H
#define EZ_RX_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct ez_rx_heap; /* a pool is a list of these, NULL when empty */

/* Room for so many bytes; NULL without memory. */
uint8_t *ez_rx_heap_take(struct ez_rx_heap **pool, size_t bytes);
/* Gives it back; NULL is fine. */
void ez_rx_heap_give(struct ez_rx_heap **pool, uint8_t *data);
/* Frees what is in the pool. */
void ez_rx_heap_empty(struct ez_rx_heap **pool);

#endif
