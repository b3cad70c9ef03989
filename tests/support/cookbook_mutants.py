# SPDX-License-Identifier: MIT
"""Scripts of docs/bpftrace/ made wrong, each in one way that somebody might have written: wrong probe, argument,
unit, key, window. Each must be found wrong by the check of that label.
"""

import cookbook

REMOVED = ""


def everywhere(name, old, new):
    return [(old, new)] * cookbook.edited(name, ()).count(old)


# label: [[(old, new)...]...]
MUTANTS = {
    "rates": [
        [("sum(arg2)", "sum(arg1)")],
        [("sum(arg2)", "count()")],
        [("ezmsg:publish", "ezmsg:lease")],
        [("interval:s:1\n{", "interval:s:2\n{")],
        [("interval:s:1\n{", "interval:ms:500\n{")],
        [("\t\tclear(@messages_even);\n", REMOVED)],
        [("print(@messages_odd)", "print(@messages_even)")],
    ],
    "sizes": [
        [("hist(arg2)", "hist(arg3)")],
        [("hist(arg2)", "hist(arg2 * 8)")],
        [("max(arg2)", "min(arg2)")],
        [("max(arg2)", "max(arg1)")],
        [("ezmsg:publish", "ezmsg:lease")],
    ],
    "missed": [
        [("@published_total[str(arg4), pid] = arg3", "@published_total[str(arg4), pid] = arg1")],
        [("@first[pid, arg0] + 1 -", "@first[pid, arg0] -")],
        [("@hits[pid, arg0] + 1", "@hits[pid, arg0] + 2")],
    ],
    "missed_late": [
        [("@first[pid, arg0] = arg3", "@first[pid, arg0] = arg1")],
        [("arg3 - @first[pid, arg0] + 1 - @hits[pid, arg0]", "arg3 - @hits[pid, arg0]")],
    ],
    "missed_with_loss": [
        [("arg3 - @first[pid, arg0] + 1 - @hits[pid, arg0]", "0")],
        [("arg3 - @first[pid, arg0] + 1 - @hits[pid, arg0]", "arg3 - arg1 - 1")],
        [("@seen[str(arg4), pid] = @hits[pid, arg0]", "@seen[str(arg4), pid] = arg3")],
    ],
    "gaps": [
        [("/ 1000000;", "/ 1000;")],
        [("/ 1000000;", "/ 2000000;")],
        [("(uint64)100;", "(uint64)1000;")],
        [("$gap_ms, arg1)", "$gap_ms, arg3)")],
        [("max($gap_ms)", "sum($gap_ms)")],
        [("@longest_ms[str(arg4)", "@longest_ms[str(arg2)")],
    ],
    "blocked": [
        [("/ 1000;", "/ 1000000;")],
        [("/ 1000;", "/ 500;")],
        [("elapsed / 1000000;\n}", "elapsed / 1000;\n}")],
        [("elapsed / 1000000;\n}", "elapsed / 1000000000;\n}")],
        [("= sum($us)", "= max($us)")],
        [("= max($us)", "= min($us)")],
        [("\tdelete(@waiting_since_ms[str(arg2), pid]);\n", REMOVED)],
        [("backpressure_begin", "backpressure_X"), ("backpressure_end", "backpressure_begin"),
         ("backpressure_X", "backpressure_end")],
        [("\nusdt:$2:ezmsg:backpressure_end /", "\nusdt:$2:ezmsg:publish /"),
         ("str(arg2), pid] = count", "str(arg4), pid] = count"),
         ("str(arg2), pid] = sum", "str(arg4), pid] = sum"), ("str(arg2), pid] = max", "str(arg4), pid] = max"),
         ("str(arg2), pid] = hist", "str(arg4), pid] = hist"),
         ("waiting_since_ms[str(arg2), pid]);", "waiting_since_ms[str(arg4), pid]);")],
        [("interval:s:1\n{", "interval:s:2\n{")],
    ],
    "blockers": [
        [("/ 1000;", "/ 1000000;")],
        [("$buffer = arg1 %", "$buffer = (arg1 + 7) %")],
        [("sum($us)", "count()")],
        [("free /@subscriber[pid, arg0]/",
          "free /@subscriber[pid, arg0] && !@last_pid[@topic[pid, arg0], arg1 % arg2]/")],
        [("ezmsg:free /@subscriber[pid, arg0]/", "ezmsg:lease /@subscriber[pid, arg0]/")],
        [("arg1 % arg2] = str(arg5)", "arg2 % arg1] = str(arg5)")],
        [("arg1 % arg2] = pid", "arg2 % arg1] = pid")],
    ],
    "subscribers": [
        [("@queued[pid, arg0, arg1]) / 1000", "@queued[pid, arg0, arg1]) / 1000000")],
        [("- arg5) / 1000", "- arg5) / 1000000")],
        [("- arg5) / 1000", "- arg5) / 2000")],
        [("hist((nsecs - @begun[pid, arg0, arg1] -", "hist((nsecs - @queued[pid, arg0, arg1] -")],
        [("@queue_us[", "@x["), ("@processing_us[", "@queue_us["), ("@x[", "@processing_us[")],
        [("@processing_us[str(arg4)", "@processing_us[str(arg3)")],
        [("@queue_us[str(arg4)", "@queue_us[str(arg3)")],
        [("ezmsg:lease", "ezmsg:publish")],
        [("@begun[pid, arg0, arg1] = nsecs", "@begun[pid, arg0, arg1] = elapsed")],
    ],
    "slowest": [
        [("5, 1000000", "5, 1000")],
        [("5, 1000000", "5, 2000000")],
        [("5, 1000000", "50, 1000000")],
        [("\t\tclear(@busy_even);\n", REMOVED)],
        [("interval:s:1\n{", "interval:s:2\n{")],
        [("sum(", "max(")],
        [("print(@busy_odd", "print(@busy_even")],
        [("ezmsg:callback_begin", "ezmsg:lease")],
        [("@busy_odd[str(arg4)", "@busy_odd[str(arg3)")],
    ],
    "percentiles": [
        [("/ 1000;", "/ 500;")],
        [("/ 1000;", "/ 1000000;")],
        [("64) == 0", "64) != 0")],
        [("$i / 8 - 1", "$i / 8")],
        [("> 15)", "> 31)")],
        [("ezmsg:callback_begin", "ezmsg:lease")],
    ],
    "percentiles_of_all": [
        [("p90 below", "p9X below"), ("p99 below", "p90 below"), ("p9X below", "p99 below")],
        [("$all * 50", "$all * 5"), ("$all * 50", "$all * 5")],
        [("$all * 50", "$all * 70"), ("$all * 50", "$all * 70")],
        [("@messages = count()", "@messages = sum($us)")],
        [("($i + 1 -", "($i -")],
        [('"", 1) == 0', '"", 1) != 0')],
        [("$all * 99", "$all * 100"), ("$all * 99", "$all * 100")],
        [("$all * 90", "$all * 80"), ("$all * 90", "$all * 80")],
    ],
    "held": [
        [("@taken_at_ms[str(arg4), pid, arg0, arg1] = elapsed / 1000000",
          "@taken_at_ms[str(arg4), pid, arg0, arg1] = elapsed / 1000")],
        [("$ms > @limit_ms", "$ms > 2 * @limit_ms + 2")],
        [("$ms > @limit_ms", "$ms < @limit_ms")],
        [("$3 ? (uint64)$3 : (uint64)1000", "(uint64)1000")],
        [("callback_begin { @taken_at_ms[str(arg4)", "lease { @taken_at_ms[str(arg5)")],
        [("pid, arg1, $ms", "pid, arg2, $ms")],
        [("\tdelete(@taken_at_ms[str(arg5), pid, arg0, arg1]);\n", REMOVED)],
        [("ezmsg:free /", "ezmsg:lease /")],
        [("interval:s:1\n{", "interval:s:2\n{")],
        [("str(arg4), pid, arg0, arg1] =", "str(arg4), tid, arg0, arg1] =")],
    ],
    "inuse": [
        [("lhist(arg3 -", "lhist(arg3 + 1 -")],
        [("lhist(arg3 -", "lhist(arg1 -")],
        [("lhist(arg3 - @frees[pid, arg0]", "lhist(@frees[pid, arg0] - arg3")],
        [("lhist(arg3 - @frees[pid, arg0]", "lhist(arg2")],
        [("= arg3; }", "= arg1; }")],
        [("0, 64, 4", "0, 64, 8")],
        [("@in_use[str(arg5)", "@in_use[str(arg4)")],
        [("ezmsg:free", "ezmsg:callback_begin"), ("= arg3;", "= arg1 + 1;")],
    ],
    "drops": [
        [("\tdelete(@queued[pid, arg0, arg1]);\n}\n\nusdt", "}\n\nusdt")],
        [("if (@subscriber[pid, arg0])", "if (arg0)")],
        [("@dropped[str(arg5), pid] = count()", "@dropped[str(arg5), pid] = sum(arg2)")],
        [("@taken[str(arg4), pid] = count()", "@taken[str(arg3), pid] = count()")],
        [("ezmsg:lease", "ezmsg:callback_end")],
        [("@dropped[str(arg5), pid] = count()", "@dropped[str(arg5), pid] = sum(2)")],
    ],
    "endpoints": [
        [('@kind[1] = "publisher"; @kind[2] = "link"', '@kind[2] = "publisher"; @kind[1] = "link"')],
        [("str(arg2), str(arg3), pid", "str(arg3), str(arg2), pid")],
        [("ezmsg:endpoint_open", "ezmsg:endpoint_X"), ("ezmsg:endpoint_close", "ezmsg:endpoint_open"),
         ("ezmsg:endpoint_X", "ezmsg:endpoint_close")],
        [("@opened[@kind[arg1]] = count()", "@opened[@kind[arg1]] = sum(arg1)")],
        [("str(arg3), pid);\n\t@closed", "str(arg3), tid);\n\t@closed")],
    ],
    "latency": [
        [("/ 1000)", "/ 1000000)")],
        [("/ 1000)", "/ 500)")],
        [(" /@id[str(arg4), arg1 % arg2] != arg1 + 1/", REMOVED)],
        [("ezmsg:callback_begin", "ezmsg:callback_end")],
        [("ezmsg:lease /", "ezmsg:publish /")],
        [("@us[str(arg3), str(arg4), pid]", "@us[str(arg4), str(arg3), pid]")],
        [("/@id[str(arg3), arg1 % arg2] == arg1 + 1/", "/@id[str(arg3), arg1 % arg2] == arg1/")],
        [("ezmsg:callback_begin", "ezmsg:lease"), ("str(arg4), pid] = hist", "str(arg5), pid] = hist"),
         ("/@id[str(arg3)", "/@id[str(arg4)"), ("@us[str(arg3)", "@us[str(arg4)"),
         ("@sent[str(arg3)", "@sent[str(arg4)")],
    ],
    "oncpu": [
        [("sum(2)", "sum(1)")],
        [("sum(2)", "sum(4)")],
        [("hz:500", "hz:250")],
        [("hz:500 /@begun[tid]/", "hz:500")],
        [("\tdelete(@begun[tid]);\n", REMOVED)],
        [("0, 1000000", "0, 1000")],
        [("= sum(nsecs - @begun[tid])", "= sum((nsecs - @begun[tid]) / 2)")],
        [("@on_cpu_ms[@handle[tid], pid]", "@on_cpu_ms[comm, pid]")],
    ],
    "threads": [
        [("[pid, tid, comm,", "[pid, pid, comm,")],
        [("[pid, tid, comm, str(arg4)]", "[pid, tid, comm, str(arg3)]")],
        [("[pid, tid, comm, str(arg4)]", "[tid, pid, comm, str(arg4)]")],
        [("count()", "sum(arg1)")],
        [("ezmsg:callback_begin { @messages[pid, tid, comm, str(arg4)]",
          "ezmsg:lease { @messages[pid, tid, comm, str(arg5)]")],
    ],
}


# Where several endpoints share a process, and one of them waits within its work.
OF_PYTHON = {
    "rates": [
        [("sum(arg2)", "sum(arg1)"), ("sum(arg2)", "sum(arg1)")],
        [("\t\tclear(@messages_even);\n", REMOVED)],
    ],
    "sizes": [
        [("hist(arg2)", "hist(arg3)")],
        [("max(arg2)", "max(arg1)")],
    ],
    "missed": [
        everywhere("missed", "@hits[pid, arg0]", "@hits[pid]"),
        everywhere("missed", "@first[pid, arg0]", "@first[pid, arg1]"),
    ],
    "gaps": [
        everywhere("gaps", "@last[pid, arg0]", "@last[pid]"),
        [("/ 1000000;", "/ 2000000;")],
    ],
    "blocked": [
        everywhere("blocked", "@since[pid, arg0]", "@since[pid]"),
        everywhere("blocked", "@since[pid, arg0]", "@since[pid, tid]"),
        [("/ 1000;", "/ 500;")],
        [("/ 1000;", "/ 1000000;")],
    ],
    "subscribers": [
        [("- arg5)", ")")],
        [("- arg5)", "+ arg5)")],
        everywhere("subscribers", "@begun[pid, arg0, arg1]", "@begun[pid, arg1]"),
        everywhere("subscribers", "@queued[pid, arg0, arg1]", "@queued[pid, arg1]"),
        everywhere("subscribers", "@begun[pid, arg0, arg1]", "@begun[tid]"),
        [("@queue_us[", "@x["), ("@processing_us[", "@queue_us["), ("@x[", "@processing_us[")],
    ],
    "slowest": [
        [("- arg5", REMOVED)],
        everywhere("slowest", "@begun[pid, arg0, arg1]", "@begun[tid]"),
        everywhere("slowest", "@begun[pid, arg0, arg1]", "@begun[pid, arg1]"),
        [("5, 1000000", "5, 2000000")],
    ],
    "percentiles": [
        everywhere("percentiles", "@begun[pid, arg0, arg1]", "@begun[tid]"),
        everywhere("percentiles", "@begun[pid, arg0, arg1]", "@begun[pid, arg1]"),
        [("/ 1000;", "/ 500;")],
    ],
    "percentiles_of_relay": [
        [("- arg5", REMOVED)],
    ],
    "held": [
        [("$ms > @limit_ms", "$ms > 20 * @limit_ms")],
        [("ezmsg:free /", "ezmsg:callback_end /"), ("/@taken_at_ms[str(arg5)", "/@taken_at_ms[str(arg4)"),
         ("- @taken_at_ms[str(arg5)", "- @taken_at_ms[str(arg4)"),
         ("delete(@taken_at_ms[str(arg5)", "delete(@taken_at_ms[str(arg4)"),
         (", str(arg5), pid, arg1", ", str(arg4), pid, arg1")],
    ],
    "inuse": [
        everywhere("inuse", "@frees[pid, arg0]", "@frees[pid]"),
        [("lhist(arg3 -", "lhist(arg1 -")],
        [("lhist(arg3 - @frees[pid, arg0]", "lhist(arg2")],
    ],
    "drops": [
        everywhere("drops", "@queued[pid, arg0, arg1]", "@queued[pid, arg1]"),
        everywhere("drops", "@subscriber[pid, arg0]", "@subscriber[pid]"),
        [("\tdelete(@queued[pid, arg0, arg1]);\n}\n\nusdt", "}\n\nusdt")],
    ],
    "threads": [
        [("[pid, tid, comm,", "[pid, pid, comm,")],
        [("count()", "sum(arg1)")],
    ],
}


def rounds(mutants):
    """[{label: edits}]: one mutant of each label at a time, until each has had its turn."""
    longest = max(map(len, mutants.values()))
    return [{label: of_it[turn] for label, of_it in mutants.items() if turn < len(of_it)} for turn in range(longest)]
