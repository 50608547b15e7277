#!/usr/bin/env bash
# Runs one Windows program under Wine, in the project's own prefix; ctest, the scripts and the tests all start them through this.
#   scripts/wine.sh PROGRAM.exe [arguments]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export WINEPREFIX=${WINEPREFIX:-$root/build/wine}
export WINEDEBUG=${WINEDEBUG:--all}
# No dialogs about browsers, and no debugger that waits for somebody when a program crashes.
export WINEDLLOVERRIDES=${WINEDLLOVERRIDES:-mshtml=;winedbg.exe=d}
# Wine cannot remap memory as .NET's W^X does: without this multi-threaded allocation crashes the runtime.
export DOTNET_EnableWriteXorExecute=0
# Linux begins a program's heap anywhere in the gigabyte behind it. Behind Wine's loader lie addresses that Wine must have, and about one
# start in a thousand ended without a word because the heap was there (docs/windows.md). Some containers forbid to ask for fixed addresses.
fixed_addresses=()
if setarch -R true 2>/dev/null; then fixed_addresses=(setarch -R); fi
# By name: the wine wrapper warns about 32-bit programs, and .exe files may be registered for another runtime.
exec "${fixed_addresses[@]}" /usr/lib/wine/wine64 "$@"
