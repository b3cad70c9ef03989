/* SPDX-License-Identifier: MIT */
/* Typing errors: which of the known names somebody may have meant. Pure; any thread. */
#ifndef EZ_NEAREST_H
#define EZ_NEAREST_H

/* Of what is nothing like the name. */
#define EZ_FAR 1000u

/*
 * How far the typed text is from a name; less is nearer. Near is what a few letters make of it: a
 * letter too many, missing, changed, or two that changed places, one in up to three letters, two in
 * up to eight, else three; and, farther than those, words (of letters and digits) that begin words
 * of the name in the same order: "sub.p99" for "sub.process_p99_ms", from three letters on.
 * EZ_FAR for everything else, and for texts of more than 96 bytes.
 */
unsigned int ez_nearness(const char *typed, const char *name);

#endif
