# Toolchain file: aarch64 by Debian's cross compiler. Of other people's libraries only the headers are
# there (this machine's, which are the same), so programs that link them can be compiled and not linked,
# unless PKG_CONFIG_SYSROOT_DIR and PKG_CONFIG_LIBDIR name a tree that has them.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_C_FLAGS_INIT "-idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
