#!/bin/sh
# The native server of transport unix with codec protobuf-direct; *unixprotobufdirectclient is its other end.
# Made by scripts/distribution.sh. Further arguments go to `ipc serve`.
exec "$(dirname "$0")/../scripts/ipc" serve --side native --address unix://ipc-pair --codec protobuf-direct --workload 1k-10k "$@"
