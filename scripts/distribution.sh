#!/usr/bin/env bash
# Writes the start scripts of distribution/ from registry.json; --check only tells which are out of date.
#   scripts/distribution.sh [--check]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec dotnet run --project "$root/managed/Ipc.Distribution" -c Release -v quiet -- "$@"
