# SPDX-License-Identifier: MIT
# An installed tree works from where it is: any prefix, and also after having been moved.
. "$EZPROF_SOURCE_DIR/tests/support/require.sh"
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "FAIL: $*"
    exit 1
}

cmake --install "$EZPROF_BUILD_DIR" --prefix "$folder/first" >"$folder/log" 2>&1 || {
    cat "$folder/log"
    fail "cmake --install"
}
mv "$folder/first" "$folder/moved away"
prefix="$folder/moved away"

for program in "$@"; do
    path=$prefix/bin/$program
    [ -x "$path" ] || fail "$program isn't installed"
    said=$(env -i "$path" --version </dev/null) || fail "$program --version: exit status $?"
    case $said in
    *"$EZPROF_TEST_VERSION"*) echo "$said" ;;
    *) fail "$program --version said: $said" ;;
    esac
    if readelf -d "$path" | grep -E 'R(UN)?PATH' | grep -F "$EZPROF_BUILD_DIR"; then
        fail "$program looks for libraries in the build folder"
    fi
done

# A program that starts another one finds it beside itself.
env -i "$prefix/bin/ezprof" serve --address 127.0.0.1:0 </dev/null >"$folder/address" 2>"$folder/log" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$folder"' EXIT
tries=0
until [ -s "$folder/address" ] || [ $tries -ge 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
env -i "$prefix/bin/ezprof" shutdown --address "$(head -n 1 "$folder/address")" || fail "ezprof shutdown: $(cat "$folder/log")"
wait $server || fail "ezprof serve: exit status $?"
trap 'rm -rf "$folder"' EXIT

for file in bash-completion/completions/ezprof zsh/site-functions/_ezprof fish/vendor_completions.d/ezprof.fish; do
    [ -s "$prefix/share/$file" ] || fail "no completion $file"
done
for page in man1/ezprof.1 man1/ezprof-graphserver.1 man5/ezprof-json.5 man7/ezprof-probes.7 man8/ezprof-bpf.8; do
    [ -s "$prefix/share/man/$page" ] || fail "no manual page $page"
done

[ -s "$prefix/share/ezprof/bpftrace/slowest.bt" ] || fail "no scripts for bpftrace"

# An application outside of the tree: shared, static, and C++.
cat >"$folder/application.c" <<'END'
#include <ezmsg/ezmsg.h>
#include <stdio.h>
int main(void)
{
	return puts(ez_version()) < 0;
}
END
pc=$(find "$prefix" -name ezmsg.pc)
[ -n "$pc" ] || fail "no ezmsg.pc"
# pkg-config quotes the blank in the path for a shell: hence eval.
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs ezmsg)
library=$(dirname "$(find "$prefix" -name libezmsg.so)")
soname=$(readelf -d "$library/libezmsg.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ -e "$library/$soname" ] || fail "SONAME $soname names no installed file"
if [ -n "${EZPROF_TEST_SANITIZE:-}" ]; then
    exit 0 # an application would have to be built with the sanitizer too
fi
for build in "${CC:-cc}" "${CXX:-c++} -x c++"; do
    eval "$build \"\$folder/application.c\" $(printf '%s' "-o \"\$folder/application\"") -x none $flags"
    LD_LIBRARY_PATH=$library "$folder/application" | grep -qx "$EZPROF_TEST_VERSION" || fail "$build, shared"
done
"${CC:-cc}" "$folder/application.c" -I"$prefix/include" "$library/libezmsg.a" -lpthread -o "$folder/application"
"$folder/application" | grep -qx "$EZPROF_TEST_VERSION" || fail "static"

# The same by find_package(ezmsg), in C and in C++, shared and static.
mkdir "$folder/consumer"
cp "$folder/application.c" "$folder/consumer/application.c"
cp "$folder/application.c" "$folder/consumer/application.cc"
cat >"$folder/consumer/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES C CXX)
find_package(ezmsg 0.1 REQUIRED)
foreach(language c cc)
	foreach(kind ezmsg static)
		add_executable(${language}_${kind} application.${language})
		target_link_libraries(${language}_${kind} PRIVATE ezmsg::${kind})
	endforeach()
endforeach()
END
if ! {
    cmake -S "$folder/consumer" -B "$folder/consumer/build" -DCMAKE_PREFIX_PATH="$prefix" &&
        cmake --build "$folder/consumer/build"
} >"$folder/log" 2>&1; then
    cat "$folder/log"
    fail "find_package(ezmsg)"
fi
for program in c_ezmsg c_static cc_ezmsg cc_static; do
    "$folder/consumer/build/$program" | grep -qx "$EZPROF_TEST_VERSION" || fail "find_package: $program"
done

# In the library's surface nothing but the documented names, and no other library but libc's.
nm -D --defined-only "$library/libezmsg.so" | awk '$2 == "T" {print $3}' | sort >"$folder/exported"
# A function of the header is declared as EZ_API, with its name before the first parenthesis.
sed -n 's/^EZ_API [^(]*\b\(ez_[a-z_]*\)(.*/\1@@EZMSG_0.1/p' "$prefix/include/ezmsg/ezmsg.h" | sort >"$folder/declared"
diff "$folder/declared" "$folder/exported" || fail "libezmsg.so doesn't export what the header declares"
alien=$(nm -D --defined-only "$library/libezmsg.so" | awk '$2 != "T" && $3 != "EZMSG_0.1"')
[ -z "$alien" ] || fail "libezmsg.so exports $alien"
needed=$(readelf -d "$library/libezmsg.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libpthread|libm|ld-linux.*)\.so' || true)
[ -z "$needed" ] || fail "libezmsg.so needs $needed"
echo "installed, moved, and used"
