/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The settings of stops.bpf.h, which is included by the compiler's command line. */
__u64 stop_countdown = 0, stop_page = 0;

#ifdef EZ_TEST_UNPROTECTED
__u8 scratch[EZ_SCRATCH_BYTES] = {0};
#endif

char STOPS_LICENSE[] SEC("license") = "Dual BSD/GPL";
