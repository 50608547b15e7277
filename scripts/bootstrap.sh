#!/usr/bin/env bash
# Puts everything onto a Debian 12 machine that building, testing and running needs. The .NET 10 SDK and git must be there.
# Nothing happens if nothing is missing. Without root it prints the one line to run instead.
#   scripts/bootstrap.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$root/scripts/packages.sh"

packages=(
    g++ cmake ninja-build pkg-config          # the native build
    protobuf-compiler libprotobuf-dev         # codec protobuf
    libsimdjson-dev                           # codec json: what reads it
    libflatbuffers-dev flatbuffers-compiler   # codec flatbuffers
    nlohmann-json3-dev                        # codec json: what it refuses with; and what the peers say to the runner
    libcsv-dev libcli11-dev                   # the native peer: table files, its command line
    g++-multilib                              # 32-bit processes in the tests
    libgtest-dev libgmock-dev                 # the native tests
    libbenchmark-dev                          # the native micro-benchmarks
    libboost-dev                              # transport boost-mq
    libiceoryx-posh-dev iceoryx               # transport iceoryx, and the daemon it needs
    mono-runtime mono-devel                   # sides of runtime netfx: Mono runs them, mono-devel has the reference assemblies
    libmono-system-servicemodel4.0a-cil       # transports wcf and wcf-ipc, with what they need of Mono
    unicode-data                              # the CSV file that workload `table` reads unless told otherwise
    ca-certificates libssl3                   # NuGet restores over TLS
    python3                                   # the example in Python, and a peer in Python that the tests play against
    iproute2                                  # brings the loopback interface up for VSTest
)

install_packages install-packages "${packages[@]}"

# `dotnet --version` fails in this folder when no installed SDK satisfies global.json.
if ! (cd "$root" && dotnet --version >/dev/null 2>&1); then
    wanted=$(sed -n 's/.*"version": *"\([^"]*\)".*/\1/p' "$root/global.json")
    echo "The .NET SDK $wanted or a later one of its band is not installed: get it from https://dotnet.microsoft.com/download" >&2
    exit 1
fi
