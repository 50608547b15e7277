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
# By name: the wine wrapper warns about 32-bit programs, and .exe files may be registered for another runtime.
exec /usr/lib/wine/wine64 "$@"
