#!/usr/bin/env bash
# Makes in lib/windows-x64 the native libraries for Windows, from Debian's source packages; windows-bootstrap.sh runs it, by itself, so that it ends
# with the first command that fails.
#   scripts/windows-libraries.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$root/scripts/packages.sh"

libraries=$root/lib/windows-x64
build=$root/build/windows-libraries
toolchain=$root/cmake/windows-mingw.cmake

# Debian's source packages, from wherever this machine gets its packages; its own package lists stay as they are.
fetch_sources() {
    local apt=$build/apt file
    rm -rf "$build" && mkdir -p "$apt/parts" "$apt/lists/partial" "$build/sources"
    : >"$apt/sources.list"
    [ ! -f /etc/apt/sources.list ] || sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$apt/sources.list"
    for file in /etc/apt/sources.list.d/*.list; do
        [ ! -f "$file" ] || sed -n 's/^deb /deb-src /p' "$file" >"$apt/parts/$(basename "$file")"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/parts/$(basename "$file")"
    done
    local options=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=$apt/parts"
        -o "Dir::State::lists=$apt/lists" -o Dir::Cache::srcpkgcache= -o Dir::Cache::pkgcache= -o APT::Sandbox::User=root)
    update_lists "${options[@]}"
    (cd "$build/sources" && apt-get -q "${options[@]}" source --download-only protobuf libcsv simdjson)
    for file in "$build"/sources/*.orig.tar.gz; do tar -C "$build/sources" -xzf "$file"; done
}

# configure NAME SOURCE [options of cmake]: one library's build.
configure() {
    cmake -S "$2" -B "$build/$1" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_INSTALL_PREFIX="$libraries.new" -DBUILD_SHARED_LIBS=OFF "${@:3}"
}

# cross_build NAME SOURCE [options of cmake]: configures, builds and installs one library.
cross_build() {
    configure "$@"
    cmake --build "$build/$1"
    cmake --install "$build/$1"
}

rm -rf "$libraries" "$libraries.new"
fetch_sources
# Not the light variant, which would compile a third of the files a second time. Optimised less than a product would be, which takes a quarter of the
# time away: it is for what is tried under Wine.
configure protobuf "$build"/sources/protobuf-*/ -DCMAKE_CXX_FLAGS_RELEASE='-O1 -DNDEBUG' \
    -Dprotobuf_BUILD_TESTS=OFF -Dprotobuf_BUILD_PROTOC_BINARIES=OFF -Dprotobuf_WITH_ZLIB=OFF
cmake --build "$build/protobuf" --target libprotobuf
cmake --install "$build/protobuf" --component libprotobuf
cmake --install "$build/protobuf" --component protobuf-headers
cross_build simdjson "$build"/sources/simdjson-*/ -DSIMDJSON_DEVELOPER_MODE=OFF -DSIMDJSON_ENABLE_THREADS=OFF
cross_build googletest /usr/src/googletest -DBUILD_GMOCK=OFF
csv=$(echo "$build"/sources/libcsv-*/)
x86_64-w64-mingw32-gcc-posix -O2 -c "$csv/libcsv.c" -o "$build/libcsv.o"
x86_64-w64-mingw32-ar rcs "$libraries.new/lib/libcsv.a" "$build/libcsv.o"
# Header-only libraries are the same everywhere.
cp "$csv/csv.h" "$libraries.new/include/"
cp -RL /usr/include/CLI /usr/include/flatbuffers /usr/include/nlohmann "$libraries.new/include/"
mkdir -p "$libraries.new/share/cmake"
cp -R /usr/share/cmake/CLI11 /usr/share/cmake/nlohmann_json "$libraries.new/share/cmake/"
rm -rf "$build"
mv "$libraries.new" "$libraries"
