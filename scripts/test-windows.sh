#!/usr/bin/env bash
# Builds the Windows parts on Linux and tests them under Wine: installs mingw-w64 and Wine, cross-builds native and managed, runs
# the native tests, the conformance suite over every pair, and a run of the lab over every Windows transport.
# The last line is `N passed, N failed[, N skipped]`.
#   scripts/test-windows.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$root/scripts/count-tests.sh"
source "$root/scripts/jobs.sh"
source "$root/scripts/windows-suites.sh"

# MSBuild reads it as a property. The analyzers look at the same files in build.sh; here they would take half of the compiler's time.
export RunAnalyzers=false

"$root/scripts/windows-bootstrap.sh"
bring_loopback_up
job build-conformance-suite 'msbuild' '' build build-conformance-suite \
    "$root/scripts/with-compiler.sh" dotnet build "$root/managed/tests/Ipc.Conformance.Tests" -c Release -nologo -v quiet
windows_jobs build-conformance-suite
run_jobs
finish
