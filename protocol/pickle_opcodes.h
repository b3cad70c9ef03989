/* SPDX-License-Identifier: MIT */
/*
 * The pickle opcodes that our readers know, each with what pickle_tree.c does for it (tree and node
 * are its variables). Private to the pickle files; whoever writes pickles uses the EZ_OP_ values.
 */
#ifndef EZ_PICKLE_OPCODES_H
#define EZ_PICKLE_OPCODES_H

#define EZ_PICKLE_OPCODES(X) \
	X(PROTO, 0x80, skip(tree, 1)) \
	X(FRAME, 0x95, skip(tree, 8)) \
	X(STOP, 0x2e, op_stop(tree)) \
	X(NONE, 0x4e, op_small(tree, EZ_NODE_NONE, 0)) \
	X(NEWTRUE, 0x88, op_small(tree, EZ_NODE_BOOL, 1)) \
	X(NEWFALSE, 0x89, op_small(tree, EZ_NODE_BOOL, 0)) \
	X(BININT, 0x4a, op_int(tree, 4, true)) \
	X(BININT1, 0x4b, op_int(tree, 1, false)) \
	X(BININT2, 0x4d, op_int(tree, 2, false)) \
	X(LONG1, 0x8a, op_long1(tree)) \
	X(BINFLOAT, 0x47, op_float(tree)) \
	X(SHORT_BINUNICODE, 0x8c, op_text(tree, EZ_NODE_STR, 1)) \
	X(BINUNICODE, 0x58, op_text(tree, EZ_NODE_STR, 4)) \
	X(BINUNICODE8, 0x8d, op_text(tree, EZ_NODE_STR, 8)) \
	X(SHORT_BINBYTES, 0x43, op_text(tree, EZ_NODE_BYTES, 1)) \
	X(BINBYTES, 0x42, op_text(tree, EZ_NODE_BYTES, 4)) \
	X(BINBYTES8, 0x8e, op_text(tree, EZ_NODE_BYTES, 8)) \
	X(EMPTY_TUPLE, 0x29, op_tuple(tree, 0, EZ_NODE_TUPLE)) \
	X(TUPLE, 0x74, op_tuple(tree, MARK, EZ_NODE_TUPLE)) \
	X(TUPLE1, 0x85, op_tuple(tree, 1, EZ_NODE_TUPLE)) \
	X(TUPLE2, 0x86, op_tuple(tree, 2, EZ_NODE_TUPLE)) \
	X(TUPLE3, 0x87, op_tuple(tree, 3, EZ_NODE_TUPLE)) \
	X(EMPTY_LIST, 0x5d, ez_pickle_push_new(tree, EZ_NODE_LIST, &node)) \
	X(APPEND, 0x61, op_fill(tree, 1, 1)) \
	X(APPENDS, 0x65, op_fill(tree, MARK, 1)) \
	X(EMPTY_DICT, 0x7d, ez_pickle_push_new(tree, EZ_NODE_DICT, &node)) \
	X(SETITEM, 0x73, op_fill(tree, 2, 2)) \
	X(SETITEMS, 0x75, op_fill(tree, MARK, 2)) \
	X(EMPTY_SET, 0x8f, ez_pickle_push_new(tree, EZ_NODE_SET, &node)) \
	X(ADDITEMS, 0x90, op_fill(tree, MARK, 1)) \
	X(FROZENSET, 0x91, op_tuple(tree, MARK, EZ_NODE_SET)) \
	X(MARK_OBJECT, 0x28, ez_pickle_push_mark(tree)) \
	X(POP, 0x30, ez_pickle_pop(tree, &node)) \
	X(POP_MARK, 0x31, op_pop_mark(tree)) \
	X(MEMOIZE, 0x94, op_put(tree, 0)) \
	X(BINPUT, 0x71, op_put(tree, 1)) \
	X(LONG_BINPUT, 0x72, op_put(tree, 4)) \
	X(BINGET, 0x68, op_get(tree, 1)) \
	X(LONG_BINGET, 0x6a, op_get(tree, 4)) \
	X(GLOBAL, 0x63, op_global(tree)) \
	X(STACK_GLOBAL, 0x93, op_stack_global(tree)) \
	X(NEWOBJ, 0x81, op_call(tree, true)) \
	X(REDUCE, 0x52, op_call(tree, false)) \
	X(BUILD, 0x62, op_build(tree)) \
	X(NEXT_BUFFER, 0x97, op_buffer(tree)) \
	X(READONLY_BUFFER, 0x98, 0)

enum ez_pickle_opcode {
#define EZ_PICKLE_VALUE(name, code, statement) EZ_OP_##name = code,
	EZ_PICKLE_OPCODES(EZ_PICKLE_VALUE)
#undef EZ_PICKLE_VALUE
};

#endif
