# Benchmarks are no tests: scripts/bench.sh runs them from a release build.
#
#   ezprof_add_bench(NAME source.c... [LIBS lib...] ROWS area.row... [ARGS a...])
#   ezprof_add_bench_script(NAME SCRIPT file.py ROWS area.row... [ARGS a...])
#
# ROWS names every row that it prints (tests/bench/run.py says how): a missing one counts as broken.
include_guard()

function(_ezprof_register_bench)
	cmake_parse_arguments(PARSE_ARGV 0 B "" "" "ROWS;COMMAND")
	list(JOIN B_ROWS "," rows)
	list(JOIN B_COMMAND " " command)
	set_property(GLOBAL APPEND PROPERTY EZPROF_BENCHES "${rows}\t${command}")
endfunction()

function(ezprof_add_bench name)
	cmake_parse_arguments(PARSE_ARGV 1 B "" "" "LIBS;ROWS;ARGS")
	add_executable(${name} ${B_UNPARSED_ARGUMENTS})
	target_link_libraries(${name} PRIVATE ${B_LIBS})
	set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${EZPROF_TEST_BIN_DIR})
	_ezprof_register_bench(ROWS ${B_ROWS} COMMAND $<TARGET_FILE:${name}> ${B_ARGS})
endfunction()

function(ezprof_add_bench_script name)
	cmake_parse_arguments(PARSE_ARGV 1 B "" "SCRIPT" "ROWS;ARGS")
	get_filename_component(script ${B_SCRIPT} ABSOLUTE)
	_ezprof_register_bench(ROWS ${B_ROWS} COMMAND ${EZPROF_PYTHON} ${script} ${B_ARGS})
endfunction()

# Called once, after all benchmarks are known.
function(ezprof_write_bench_list)
	get_property(benches GLOBAL PROPERTY EZPROF_BENCHES)
	list(JOIN benches "\n" lines)
	file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/benches.txt CONTENT "${lines}\n")
endfunction()
