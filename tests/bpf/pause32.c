/* SPDX-License-Identifier: MIT */
/*
 * A 32-bit program with one probe of provider `ezmsg`, which waits to be ended. Without a C
 * library, so that a compiler without the 32-bit one builds it: gcc -m32 -nostdlib -static.
 */
void _start(void);

static unsigned short semaphore __attribute__((used, section(".probes")));

static void probe(void)
{
	__asm__ volatile("990:	nop\n"
			 "	.pushsection .note.stapsdt,\"\",\"note\"\n"
			 "	.balign 4\n"
			 "	.4byte 992f-991f, 994f-993f, 3\n"
			 "991:	.asciz \"stapsdt\"\n"
			 "992:	.balign 4\n"
			 "993:	.4byte 990b, 0, %c0\n"
			 "	.asciz \"ezmsg\"\n"
			 "	.asciz \"publish\"\n"
			 "	.asciz \"\"\n"
			 "994:	.balign 4\n"
			 "	.popsection\n"
			 :
			 : "i"(&semaphore));
}

void _start(void)
{
	int result;

	for (;;) {
		probe();
		/* pause() */
		__asm__ volatile("int $0x80" : "=a"(result) : "0"(29) : "memory");
	}
}
