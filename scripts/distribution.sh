#!/usr/bin/env bash
# Writes what follows from registry.json, the start scripts of distribution/ and docs/addresses.md; --check only tells what is out of date.
#   scripts/distribution.sh [--check]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec dotnet run --project "$root/managed/Ipc.Distribution" -c Release -v quiet -- "$@"
