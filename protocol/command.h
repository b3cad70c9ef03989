/* SPDX-License-Identifier: MIT */
/*
 * The command bytes of the graph protocol. Two of them have two meanings: 15 and 16 are PROFILE and
 * PROFILE_DATA in the dialect of pull request 206 and on the links of this project, and SESSION and
 * SESSION_CONNECT for ezmsg 3.9.0 and later.
 */
#ifndef EZ_COMMAND_H
#define EZ_COMMAND_H

#include <stdint.h>

#define EZ_COMMANDS(X) \
	X(COMPLETE, 0x00) \
	X(PUBLISH, 0x01) \
	X(SUBSCRIBE, 0x02) \
	X(CONNECT, 0x03) \
	X(DISCONNECT, 0x04) \
	X(CYCLIC, 0x05) \
	X(PAUSE, 0x06) \
	X(SYNC, 0x07) \
	X(RESUME, 0x08) \
	X(UPDATE, 0x09) \
	X(DAG, 0x0a) \
	X(TX_LOCAL, 0x0b) \
	X(TX_SHM, 0x0c) \
	X(TX_TCP, 0x0d) \
	X(RX_ACK, 0x0e) \
	X(SHM_CREATE, 0x0f) \
	X(SHM_ATTACH, 0x10) \
	X(SHUTDOWN, 0x11) \
	X(CHANNEL, 0x12) \
	X(SHM_OK, 0x13) \
	X(SHM_ATTACH_FAILED, 0x14) \
	X(SESSION, 0x15) \
	X(SESSION_CONNECT, 0x16) \
	X(SESSION_DISCONNECT, 0x17) \
	X(SESSION_CLEAR, 0x18) \
	X(SESSION_REGISTER, 0x19) \
	X(SESSION_SNAPSHOT, 0x1a) \
	X(SESSION_SETTINGS_SNAPSHOT, 0x1b) \
	X(SESSION_SETTINGS_EVENTS, 0x1c) \
	X(SESSION_SETTINGS_SUBSCRIBE, 0x1d) \
	X(SESSION_TOPOLOGY_SUBSCRIBE, 0x1e) \
	X(SESSION_PROFILING_SUBSCRIBE, 0x1f) \
	X(SESSION_PROCESS_REQUEST, 0x20) \
	X(PROCESS, 0x21) \
	X(PROCESS_REGISTER, 0x22) \
	X(PROCESS_UPDATE_OWNERSHIP, 0x23) \
	X(PROCESS_SETTINGS_UPDATE, 0x24) \
	X(PROCESS_PROFILING_TRACE_UPDATE, 0x25) \
	X(PROCESS_ROUTE_REQUEST, 0x26) \
	X(PROCESS_ROUTE_RESPONSE, 0x27) \
	X(ERROR, 0x28) \
	X(ELIDE_OK, 0x29) \
	X(AXIS_RESEND, 0x2a) \
	X(HELLO, 0xe0) \
	X(RECORD, 0xe1)

enum ez_command {
#define EZ_COMMAND_VALUE(name, value) EZ_CMD_##name = value,
	EZ_COMMANDS(EZ_COMMAND_VALUE)
#undef EZ_COMMAND_VALUE
	/* The second meanings. */
	EZ_CMD_PROFILE = 0x15,
	EZ_CMD_PROFILE_DATA = 0x16,
};

/* "PUBLISH", or "unknown". Never NULL. */
const char *ez_command_name(uint8_t command);

#endif
