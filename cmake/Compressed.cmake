# ezprof_install_compressed(FILE DESTINATION [NAME name] [COMPONENT c]): manual pages and the like, which
# Debian wants gzipped, without a time in them; as they are elsewhere.
include_guard()

function(ezprof_install_compressed file destination)
	cmake_parse_arguments(PARSE_ARGV 2 C "" "NAME;COMPONENT" "")
	get_filename_component(source ${file} ABSOLUTE)
	if(NOT C_NAME)
		get_filename_component(C_NAME ${file} NAME)
	endif()
	if(NOT C_COMPONENT)
		set(C_COMPONENT ${CMAKE_INSTALL_DEFAULT_COMPONENT_NAME})
	endif()
	if(EZPROF_PACKAGE)
		set(compressed ${CMAKE_BINARY_DIR}/compressed/${C_NAME}.gz)
		if(NOT TARGET compressed_${C_NAME})
			add_custom_command(OUTPUT ${compressed} DEPENDS ${source} VERBATIM
				COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/compressed
				COMMAND sh -c "gzip -9 -n <\"$1\" >\"$2\"" sh ${source} ${compressed})
			add_custom_target(compressed_${C_NAME} ALL DEPENDS ${compressed})
		endif()
		set(source ${compressed})
		string(APPEND C_NAME .gz)
	endif()
	install(FILES ${source} RENAME ${C_NAME} DESTINATION ${destination} COMPONENT ${C_COMPONENT})
endfunction()
