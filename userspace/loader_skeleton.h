/* SPDX-License-Identifier: MIT */
/* What is loaded, for the one other file that loads BPF and shares its maps. */
#ifndef EZPROF_LOADER_SKELETON_H
#define EZPROF_LOADER_SKELETON_H

struct ezprof;
struct ezprof_bpf;

const struct ezprof *ezprof_bpf_skeleton(const struct ezprof_bpf *bpf);

#endif
