# Fuzzed readers. A harness is a C file with the usual
#     int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
# and is built with its sources, address and undefined-behaviour sanitizers on:
#
#   ezprof_add_fuzz_test(NAME harness.c SOURCES source.c... INCLUDES folder... [CORPUS folder] [RUNS n])
#
# The test runs n mutations of the corpus, the same every time (tests/fuzz/driver.c). For a long run with
# libFuzzer: clang -fsanitize=fuzzer,address,undefined harness.c source.c... && ./a.out CORPUS.
include_guard()

set(EZPROF_FUZZ_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g)

function(ezprof_add_fuzz_test name)
	cmake_parse_arguments(PARSE_ARGV 1 F "" "CORPUS;RUNS;TIMEOUT" "SOURCES;INCLUDES")
	if(NOT F_RUNS)
		set(F_RUNS 20000)
	endif()
	if(NOT F_TIMEOUT)
		set(F_TIMEOUT 120)
	endif()
	set(harness ${F_UNPARSED_ARGUMENTS} ${F_SOURCES})
	set(corpus)
	if(F_CORPUS)
		get_filename_component(corpus ${F_CORPUS} ABSOLUTE)
	endif()
	add_executable(${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/driver.c ${harness})
	target_include_directories(${name} PRIVATE ${F_INCLUDES})
	set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${EZPROF_TEST_BIN_DIR})
	if(NOT EZPROF_SANITIZE)
		target_compile_options(${name} PRIVATE ${EZPROF_FUZZ_FLAGS})
		target_link_options(${name} PRIVATE -fsanitize=address,undefined)
	endif()
	add_test(NAME ${name} COMMAND ${name} ${F_RUNS} ${corpus})
	_ezprof_test_properties(${name} LABELS unit TIMEOUT ${F_TIMEOUT})
endfunction()
