# Debian packages: `cpack` in a build of the preset "package"; scripts/package.sh does both.
#
#   ezprof        the programs, their manual, completions, systemd units, a demo
#   libezmsg0     the library that C applications run with
#   libezmsg-dev  what they are built with; also find_package(), pkg-config
#
# What is installed belongs to ezprof where no COMPONENT says else.
include_guard()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ezprof)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR})
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL ezprof libezmsg0 libezmsg-dev)

# Each has a synopsis of its own: the first line of its description.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "ezprof maintainers <maintainers@ezprof.example>")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# A package of ours needs the library of another one: the tool doesn't know that one yet.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(same_version "= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")

set(CPACK_DEBIAN_EZPROF_PACKAGE_NAME ezprof)
set(CPACK_DEBIAN_EZPROF_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_EZPROF_PACKAGE_DEPENDS "libezmsg0 (${same_version})")
# The demo wants them.
set(CPACK_DEBIAN_EZPROF_PACKAGE_RECOMMENDS "python3, bpftool")
set(CPACK_DEBIAN_EZPROF_PACKAGE_SUGGESTS bpftrace)
set(CPACK_COMPONENT_EZPROF_DESCRIPTION "kernel-assisted profiler for ezmsg graphs
Tells which part of a running graph of publishers and subscribers holds the
others up: measured from the kernel side by USDT probes and BPF, attached
late or early, without a restart, and at next to no cost while nobody looks.

It has a graph server of its own, which C and Python programs can share.")
set(folder ${CMAKE_SOURCE_DIR}/packaging)
set(CPACK_DEBIAN_EZPROF_PACKAGE_CONTROL_EXTRA
	${folder}/ezprof/postinst ${folder}/ezprof/prerm ${folder}/ezprof/postrm)

set(CPACK_DEBIAN_LIBEZMSG0_PACKAGE_NAME libezmsg0)
set(CPACK_DEBIAN_LIBEZMSG0_PACKAGE_SECTION libs)
# For those who package applications; and the trigger that runs ldconfig.
configure_file(${folder}/libezmsg0/shlibs.in ${CMAKE_BINARY_DIR}/shlibs @ONLY)
set(CPACK_DEBIAN_LIBEZMSG0_PACKAGE_CONTROL_EXTRA
	${CMAKE_BINARY_DIR}/shlibs ${folder}/libezmsg0/triggers)
set(CPACK_COMPONENT_LIBEZMSG0_DESCRIPTION "publish and subscribe in an ezmsg graph from C
Publishers, channels and subscribers that speak ezmsg's protocol, by shared
memory within a host and by TCP beyond it, with probes for ezprof.")

set(CPACK_DEBIAN_LIBEZMSG-DEV_PACKAGE_NAME libezmsg-dev)
set(CPACK_DEBIAN_LIBEZMSG-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBEZMSG-DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_LIBEZMSG-DEV_PACKAGE_DEPENDS "libezmsg0 (${same_version})")
set(CPACK_COMPONENT_LIBEZMSG-DEV_DESCRIPTION "headers and libraries for ezmsg applications in C
Publishers, channels and subscribers in C: the header, the static library,
the files for pkg-config and CMake, and the probes for other runtimes.")

# What only Debian wants beside what is installed everywhere.
if(EZPROF_PACKAGE)
	foreach(component IN LISTS CPACK_COMPONENTS_ALL)
		install(FILES packaging/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${component}
			COMPONENT ${component})
		install(FILES packaging/${component}/overrides RENAME ${component}
			DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${component})
		ezprof_install_compressed(packaging/changelog ${CMAKE_INSTALL_DATADIR}/doc/${component}
			NAME changelog.Debian COMPONENT ${component})
	endforeach()
endif()

include(CPack)
