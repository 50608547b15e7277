#!/usr/bin/env bash
# Runs one Windows program under Wine, in the project's own prefix; ctest, the scripts and the tests all start them through this.
#   scripts/wine.sh PROGRAM.exe [arguments]
set -euo pipefail
# The suites start thousands of programs through this: what forks here is only what must.
[ -n "${WINEPREFIX:-}" ] || WINEPREFIX=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/wine
export WINEPREFIX
export WINEDEBUG=${WINEDEBUG:--all}
# No dialogs about browsers, and no debugger that waits for somebody when a program crashes.
export WINEDLLOVERRIDES=${WINEDLLOVERRIDES:-mshtml=;winedbg.exe=d}
# Wine cannot remap memory as .NET's W^X does: without this multi-threaded allocation crashes the runtime.
export DOTNET_EnableWriteXorExecute=0
# Wine keeps a byte for every page that a process reserves, and .NET reserves 256 GB for its heap: with 4 GB (in hexadecimal) a start takes a sixth less.
export DOTNET_GCRegionRange=${DOTNET_GCRegionRange:-100000000}
# Linux begins a program's heap anywhere in the gigabyte behind it. Behind Wine's loader lie addresses that Wine must have, and about one
# start in a thousand ended without a word because the heap was there (docs/windows.md). Some containers forbid to ask for fixed addresses. A
# process that has them hands them on to what it starts.
fixed_addresses=()
read -r personality 2>/dev/null </proc/self/personality || personality=0
if (((16#$personality & 0x40000) == 0)) && setarch -R true 2>/dev/null; then fixed_addresses=(setarch -R); fi
# By name: the wine wrapper warns about 32-bit programs, and .exe files may be registered for another runtime.
exec "${fixed_addresses[@]}" /usr/lib/wine/wine64 "$@"
