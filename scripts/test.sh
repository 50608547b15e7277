#!/usr/bin/env bash
# Bootstraps, builds, and runs every test there is: the native ones optimised and under the sanitizers (those of shared memory also
# under ThreadSanitizer), the fuzzers for 10 s each, the managed ones, the conformance suite over every transport and pair, and
# under Wine what exists on Windows (test-windows.sh runs that alone). The last line is `N passed, N failed[, N skipped]`.
#   scripts/test.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$root/scripts/count-tests.sh"
source "$root/scripts/windows-suites.sh"
source "$root/scripts/packages.sh"

"$root/scripts/windows-bootstrap.sh"
# The report's page is tried in a browser; only tests need one.
install_packages install-browser chromium
bring_loopback_up
"$root/scripts/build.sh" Release
step build-native-32-bit "$root/scripts/native.sh" linux-x86
step build-native-sanitized "$root/scripts/native.sh" debug
step build-native-threads "$root/scripts/native.sh" tsan --target shm_tests ring_tests queue_tests broadcast_tests
"$root/scripts/windows-build.sh"

run_ctest native release
run_ctest native-32-bit linux-x86
run_ctest native-sanitized debug
# The models are of one thread.
run_ctest native-threads tsan --tests-regex '^(shm|ring|queue|broadcast)_tests\.' --exclude-regex 'Model\.'

mapfile -t projects < <(grep -l 'Microsoft.NET.Test.Sdk' "$root"/managed/tests/*/*.csproj)
for project in "${projects[@]}"; do
    project=$(basename "$project" .csproj)
    # What only Windows has is played below.
    run_xunit "$project" "$project" 'system!=windows'
done
run_windows_suites
# Each for 10 s; as long as wanted by hand.
run_script fuzz "$root/scripts/fuzz.sh" 10
run_script examples "$root/scripts/examples.sh"
step pack "$root/scripts/pack.sh" nuget
run_script packages "$root/scripts/test-packages.sh" --packed

finish
