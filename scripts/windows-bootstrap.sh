#!/usr/bin/env bash
# Puts onto a Debian 12 machine what building and running the Windows parts needs: the mingw-w64 compilers, widl, Wine with a
# prefix in build/wine, and in lib/windows-x64 the native libraries for Windows, made from Debian's source packages; and, if it can
# be had, Wine's half for 32-bit programs, for which the architecture i386 is added. Nothing happens if nothing is missing.
# Without root it prints the one line to run instead.
#   scripts/windows-bootstrap.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$root/scripts/packages.sh"

"$root/scripts/bootstrap.sh"
install_packages install-windows-packages \
    g++-mingw-w64-x86-64-posix g++-mingw-w64-i686-posix \
    mingw-w64-tools \
    wine wine64 \
    googletest \
    xz-utils

# 32-bit programs come from a second architecture, which not every machine can have: without it their tests are left out.
wine32_is_here() { [ -x /usr/lib/wine/wine ]; }
add_wine32() {
    local added=
    dpkg --print-foreign-architectures | grep -qx i386 || added=yes
    dpkg --add-architecture i386 && update_and_install wine32:i386 && return
    [ -z "$added" ] || dpkg --remove-architecture i386
    return 1
}
if ! wine32_is_here; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "32-bit Windows programs cannot run here, so their tests will be left out. To have them, run:" >&2
        echo "sudo sh -c 'dpkg --add-architecture i386 && apt-get update && apt-get install -y --no-install-recommends wine32:i386'" >&2
    elif ! add_wine32 >"$logs/install-32-bit-wine.log" 2>&1 </dev/null; then
        echo "32-bit Windows programs cannot run here, so their tests will be left out: Debian's package wine32:i386 cannot be installed." \
            "The reason is in $logs/install-32-bit-wine.log" >&2
    fi
fi

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
    local options=(-q -o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=$apt/parts"
        -o "Dir::State::lists=$apt/lists" -o Dir::Cache::srcpkgcache= -o Dir::Cache::pkgcache= -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update
    (cd "$build/sources" && apt-get "${options[@]}" source --download-only protobuf libcsv simdjson)
    for file in "$build"/sources/*.orig.tar.gz; do tar -C "$build/sources" -xzf "$file"; done
}

# cross_build NAME SOURCE [options of cmake]: configures, builds and installs one library.
cross_build() {
    local name=$1 source=$2
    shift 2
    cmake -S "$source" -B "$build/$name" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_INSTALL_PREFIX="$libraries.new" -DBUILD_SHARED_LIBS=OFF "$@"
    cmake --build "$build/$name"
    cmake --install "$build/$name"
}

make_libraries() {
    rm -rf "$libraries" "$libraries.new"
    fetch_sources
    cross_build protobuf "$build"/sources/protobuf-*/ -Dprotobuf_BUILD_TESTS=OFF -Dprotobuf_BUILD_PROTOC_BINARIES=OFF \
        -Dprotobuf_WITH_ZLIB=OFF
    cross_build simdjson "$build"/sources/simdjson-*/ -DSIMDJSON_DEVELOPER_MODE=OFF -DSIMDJSON_ENABLE_THREADS=OFF
    cross_build googletest /usr/src/googletest -DBUILD_GMOCK=OFF
    local csv
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
}

make_prefix() {
    # mscoree and mshtml would ask for downloads; no display is needed for windows that only carry messages.
    WINEDLLOVERRIDES='mscoree,mshtml=;winedbg.exe=d' "$root/scripts/wine.sh" wineboot -i
    "$root/scripts/wine.sh" reg add 'HKCU\Software\Wine\Drivers' /v Graphics /d null /f
    WINEPREFIX=$WINEPREFIX /usr/lib/wine/wineserver -w
    : >"$WINEPREFIX/made"
}

# Those of before FlatBuffers was among them are made anew.
[ -d "$libraries/include/flatbuffers" ] || step build-windows-libraries make_libraries
export WINEPREFIX=${WINEPREFIX:-$root/build/wine}
# A prefix that was made by a Wine without the 32-bit half stays without it. Only our own is ours to remove.
if wine32_is_here && [ "$WINEPREFIX" = "$root/build/wine" ] && [ -f "$WINEPREFIX/made" ] &&
    [ ! -f "$WINEPREFIX/drive_c/windows/syswow64/ntdll.dll" ]; then
    /usr/lib/wine/wineserver -k || true
    rm -rf "$WINEPREFIX"
fi
[ -f "$WINEPREFIX/made" ] || step make-wine-prefix make_prefix
