#!/usr/bin/env bash
# Bootstraps, builds, and runs every test there is: the native ones optimised and under the sanitizers, the managed ones, and
# the conformance suite over every transport and pair. The last line is `N passed, N failed[, N skipped]`.
#   scripts/test.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$root/scripts/count-tests.sh"

"$root/scripts/bootstrap.sh"
bring_loopback_up
"$root/scripts/build.sh" Release
step build-native-sanitized "$root/scripts/native.sh" debug

run_ctest native release
run_ctest native-sanitized debug

mapfile -t projects < <(grep -l 'Microsoft.NET.Test.Sdk' "$root"/managed/tests/*/*.csproj)
for project in "${projects[@]}"; do
    run_xunit "$(basename "$project" .csproj)"
done

finish
