#!/usr/bin/env bash
# Puts onto a Debian 12 machine what building and running the Windows parts needs: the mingw-w64 compilers, widl, Wine with a
# prefix in build/wine, and in lib/windows-x64 the native libraries for Windows, made from Debian's source packages; and, if it can
# be had, Wine's half for 32-bit programs, for which the architecture i386 is added. Nothing happens if nothing is missing.
# Without root it prints the one line to run instead.
#   scripts/windows-bootstrap.sh [--packages]      --packages: only what the system's package manager installs
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

[ "${1:-}" != --packages ] || exit 0

make_prefix() {
    # mscoree and mshtml would ask for downloads; no display is needed for windows that only carry messages.
    WINEDLLOVERRIDES='mscoree,mshtml=;winedbg.exe=d' "$root/scripts/wine.sh" wineboot -i &&
        "$root/scripts/wine.sh" reg add 'HKCU\Software\Wine\Drivers' /v Graphics /d null /f &&
        WINEPREFIX=$WINEPREFIX /usr/lib/wine/wineserver -w &&
        : >"$WINEPREFIX/made"
}

# Those of before FlatBuffers was among them are made anew.
[ -d "$root/lib/windows-x64/include/flatbuffers" ] || step build-windows-libraries "$root/scripts/windows-libraries.sh"
export WINEPREFIX=${WINEPREFIX:-$root/build/wine}
# A prefix that was made by a Wine without the 32-bit half stays without it. Only our own is ours to remove.
if wine32_is_here && [ "$WINEPREFIX" = "$root/build/wine" ] && [ -f "$WINEPREFIX/made" ] &&
    [ ! -f "$WINEPREFIX/drive_c/windows/syswow64/ntdll.dll" ]; then
    /usr/lib/wine/wineserver -k || true
    rm -rf "$WINEPREFIX"
fi
[ -f "$WINEPREFIX/made" ] || step make-wine-prefix make_prefix
