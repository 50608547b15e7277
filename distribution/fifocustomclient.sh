#!/bin/sh
# The native client of transport fifo with codec custom; *fifocustomsrv is its other end.
# Made by scripts/distribution.sh. Further arguments go to `ipc drive`, e.g. --workload; 1k-10k unless said.
exec "$(dirname "$(readlink -f "$0")")/../scripts/ipc" drive --side native --address fifo://ipc-pair --codec custom "$@"
