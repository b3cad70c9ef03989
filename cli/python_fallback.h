/* SPDX-License-Identifier: MIT */
/* A graph that nobody measures: what ezmsg tells by itself, read by the package ezmsg-usdt. */
#ifndef EZPROF_PYTHON_FALLBACK_H
#define EZPROF_PYTHON_FALLBACK_H

/*
 * Where this program came with the package, becomes `python -m ezmsg_usdt profile` of the same
 * environment, which knows ezmsg's own protocol of snapshots and traces. Returns where it didn't,
 * or where EZPROF_NO_FALLBACK is set.
 */
void ezprof_python_fallback(const char *address, double window_s);

#endif
