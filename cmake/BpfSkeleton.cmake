# BPF sources -> one object per file -> one linked object -> a skeleton header.
#
#   ezprof_bpf_skeleton(TARGET NAME skeleton SOURCES a.bpf.c... INCLUDES folder... [HEADERS h...] [DEFINES D...]
#                       [OPTIONS compiler option...] [FOLDER below the binary folder])
#
# TARGET is an INTERFACE library whose include folder holds NAME.skel.h. Several objects are linked
# by `bpftool gen object`, so that maps are declared in many files and defined in one.
# -mcpu=v3: atomic compare-and-swap. The multiarch folder: asm/types.h lies there on Debian.
include_guard()

find_program(EZPROF_CLANG NAMES clang clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 REQUIRED)
find_program(EZPROF_BPFTOOL NAMES bpftool PATHS /usr/sbin /usr/local/sbin REQUIRED)

set(_bpf_arch_x86_64 x86)
set(_bpf_arch_aarch64 arm64)
set(EZPROF_BPF_FLAGS -target bpf -mcpu=v3 -g -O2 -Wall -Wextra
	-D__TARGET_ARCH_${_bpf_arch_${CMAKE_SYSTEM_PROCESSOR}}
	# Line numbers travel into the kernel and into packages: with paths of the tree, not of the builder.
	-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(CMAKE_C_LIBRARY_ARCHITECTURE)
	# The second is where Debian's cross compilers have them.
	list(APPEND EZPROF_BPF_FLAGS -idirafter /usr/include/${CMAKE_C_LIBRARY_ARCHITECTURE}
		-idirafter /usr/${CMAKE_C_LIBRARY_ARCHITECTURE}/include)
endif()
if(EZPROF_WERROR)
	list(APPEND EZPROF_BPF_FLAGS -Werror)
endif()

function(ezprof_bpf_skeleton target)
	cmake_parse_arguments(PARSE_ARGV 1 B "" "NAME;FOLDER" "SOURCES;INCLUDES;HEADERS;DEFINES;OPTIONS")
	list(TRANSFORM B_INCLUDES PREPEND -I OUTPUT_VARIABLE includes)
	list(TRANSFORM B_DEFINES PREPEND -D OUTPUT_VARIABLE defines)
	set(binaries ${CMAKE_CURRENT_BINARY_DIR})
	if(B_FOLDER)
		string(APPEND binaries /${B_FOLDER})
	endif()
	# Objects of the same source with other definitions lie elsewhere.
	set(place ${binaries})
	if(B_DEFINES)
		string(APPEND place /${B_NAME})
	endif()
	file(MAKE_DIRECTORY ${place})
	set(objects)
	foreach(source IN LISTS B_SOURCES)
		get_filename_component(path ${source} ABSOLUTE)
		get_filename_component(stem ${source} NAME_WLE)
		set(object ${place}/${stem}.o)
		add_custom_command(OUTPUT ${object}
			COMMAND ${EZPROF_CLANG} ${EZPROF_BPF_FLAGS} ${defines} ${includes} ${B_OPTIONS}
				-MD -MT ${object} -MF ${object}.d -c ${path} -o ${object}
			DEPENDS ${path} ${B_HEADERS}
			DEPFILE ${object}.d
			COMMENT "BPF object ${stem}.o"
			VERBATIM)
		list(APPEND objects ${object})
	endforeach()
	set(linked ${binaries}/${B_NAME}.linked.o)
	set(folder ${binaries}/skel)
	set(skeleton ${folder}/${B_NAME}.skel.h)
	file(MAKE_DIRECTORY ${folder})
	add_custom_command(OUTPUT ${skeleton}
		COMMAND ${EZPROF_BPFTOOL} gen object ${linked} ${objects}
		COMMAND ${EZPROF_BPFTOOL} gen skeleton ${linked} name ${B_NAME} > ${skeleton}.new
		COMMAND ${CMAKE_COMMAND} -E rename ${skeleton}.new ${skeleton}
		DEPENDS ${objects}
		COMMENT "BPF skeleton ${B_NAME}.skel.h"
		VERBATIM)
	add_custom_target(${target}_header DEPENDS ${skeleton})
	add_library(${target} INTERFACE)
	# A generated header is not held to our warnings.
	target_include_directories(${target} SYSTEM INTERFACE ${folder})
	add_dependencies(${target} ${target}_header)
endfunction()
