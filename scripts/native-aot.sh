#!/usr/bin/env bash
# Builds side managed-aot: the managed peer compiled ahead of time (NativeAOT), in artifacts/bin/Ipc.Peer/aot, which the lab plays where it finds it.
# Takes clang and zlib's headers, which it installs as root.
#   scripts/native-aot.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$root/scripts/packages.sh"

install_packages install-native-aot clang zlib1g-dev
# The analyzers look at the same files in build.sh.
step build-native-aot "$root/scripts/with-compiler.sh" dotnet publish "$root/managed/Ipc.Peer" -c Release -p:AheadOfTime=true \
    -p:RunAnalyzers=false -p:CMakeTargets= -nologo -v quiet
