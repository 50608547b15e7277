#!/usr/bin/env bash
# Builds everything: native (always the release preset, which is what .NET loads), then the solution.
#   scripts/build.sh [Release|Debug]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
configuration=${1:-Release}
case $configuration in Release | Debug) ;; *)
    echo "The configuration is Release or Debug, not '$configuration'." >&2
    exit 2
    ;;
esac

step build-native "$root/scripts/native.sh" release
step build-solution "$root/scripts/with-compiler.sh" dotnet build "$root/ipc.sln" -c "$configuration" -nologo -v minimal
