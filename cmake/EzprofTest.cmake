# One call per test, so that label, time limit, skip code and locks are never forgotten.
#
#   ezprof_add_unit_test(NAME source.c... [LIBS lib...] [options])     a cmocka program, label unit
#   ezprof_add_program_test(NAME source.c... [LIBS lib...] [options])  any program; no label of its own
#   ezprof_add_script_test(NAME SCRIPT file [options])                 .py by python3, .sh by sh, else as it is
#
# options: LABELS l...    unit, bpf, interop, e2e, slow, style
#          TIMEOUT s      60 where not given; four times as much with a sanitizer
#          ARGS a...      generator expressions are welcome: $<TARGET_FILE:ezprof>
#          ENV K=V...
#          LOCKS name...  tests that share a lock don't overlap; label bpf brings the lock "bpf"
#          SERIAL         runs alone: everything that measures time
#
# A test that exits with 77 was skipped; it says why on stdout (tests/support/require.h).
# Every test sees EZPROF_BIN_DIR (programs), EZPROF_TEST_BIN_DIR (test programs), EZPROF_SOURCE_DIR,
# EZPROF_BUILD_DIR and EZPROF_INTEROP_PYTHON (an interpreter with ezmsg, made by scripts/test.sh).
include_guard()

set(EZPROF_TEST_BIN_DIR ${CMAKE_BINARY_DIR}/tests/bin)
set(EZPROF_INTEROP_VENV ${CMAKE_BINARY_DIR}/venv-3.9.0 CACHE PATH "Virtual environment with the real ezmsg")

# For programs that aren't built here and load what is (tests/support/preload.py).
if(EZPROF_SANITIZE)
	set(sanitizer_name asan)
	if(EZPROF_SANITIZE MATCHES thread)
		set(sanitizer_name tsan)
	endif()
	execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${sanitizer_name}.so
		OUTPUT_VARIABLE EZPROF_SANITIZER_LIBRARY OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()

macro(_ezprof_parse_test)
	cmake_parse_arguments(PARSE_ARGV 1 T "SERIAL" "TIMEOUT;SCRIPT" "SOURCES;LIBS;LABELS;ARGS;ENV;LOCKS")
endmacro()

function(_ezprof_test_properties name)
	_ezprof_parse_test()
	if(NOT T_TIMEOUT)
		set(T_TIMEOUT 60)
	endif()
	if(EZPROF_SANITIZE)
		math(EXPR T_TIMEOUT "4 * ${T_TIMEOUT}")
	endif()
	if("bpf" IN_LIST T_LABELS)
		list(APPEND T_LOCKS bpf)
	endif()
	list(REMOVE_DUPLICATES T_LABELS)
	set(sanitizer_env)
	if(EZPROF_SANITIZE)
		set(sanitizer_env LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0
			EZPROF_TEST_PRELOAD=${EZPROF_SANITIZER_LIBRARY})
	endif()
	set(env
		EZPROF_TEST_NAME=${name}
		EZPROF_BIN_DIR=${CMAKE_BINARY_DIR}/bin
		EZPROF_TEST_BIN_DIR=${EZPROF_TEST_BIN_DIR}
		EZPROF_SOURCE_DIR=${CMAKE_SOURCE_DIR}
		EZPROF_BUILD_DIR=${CMAKE_BINARY_DIR}
		EZPROF_INTEROP_PYTHON=${EZPROF_INTEROP_VENV}/bin/python
		PYTHONPATH=${CMAKE_SOURCE_DIR}/tests/support
		PYTHONDONTWRITEBYTECODE=1
		${sanitizer_env}
		${T_ENV})
	set_tests_properties(${name} PROPERTIES
		TIMEOUT ${T_TIMEOUT}
		SKIP_RETURN_CODE 77
		LABELS "${T_LABELS}"
		ENVIRONMENT "${env}"
		RESOURCE_LOCK "${T_LOCKS}")
	if(T_SERIAL)
		set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
	endif()
endfunction()

# A test program that isn't a test itself (a fixture to attach to, a peer): lands beside the tests.
function(ezprof_add_test_program name)
	_ezprof_parse_test()
	add_executable(${name} ${T_SOURCES} ${T_UNPARSED_ARGUMENTS})
	target_link_libraries(${name} PRIVATE ${T_LIBS})
	set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${EZPROF_TEST_BIN_DIR})
endfunction()

function(ezprof_add_program_test name)
	_ezprof_parse_test()
	ezprof_add_test_program(${name} ${T_SOURCES} ${T_UNPARSED_ARGUMENTS} LIBS ${T_LIBS} ez_test_support)
	add_test(NAME ${name} COMMAND ${name} ${T_ARGS})
	_ezprof_test_properties(${ARGV})
endfunction()

function(ezprof_add_unit_test name)
	_ezprof_parse_test()
	ezprof_add_test_program(${name} ${T_SOURCES} ${T_UNPARSED_ARGUMENTS}
		LIBS ${T_LIBS} ez_test_support cmocka)
	add_test(NAME ${name} COMMAND ${name} ${T_ARGS})
	_ezprof_test_properties(${ARGV} LABELS unit ${T_LABELS})
endfunction()

function(ezprof_add_script_test name)
	_ezprof_parse_test()
	get_filename_component(script ${T_SCRIPT} ABSOLUTE)
	set(command ${script})
	if(script MATCHES "\\.py$")
		set(command ${EZPROF_PYTHON} ${script})
	elseif(script MATCHES "\\.sh$")
		set(command sh ${script})
	endif()
	add_test(NAME ${name} COMMAND ${command} ${T_ARGS})
	_ezprof_test_properties(${ARGV})
endfunction()
