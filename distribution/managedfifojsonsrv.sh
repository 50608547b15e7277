#!/bin/sh
# The managed server of transport fifo with codec json; *fifojsonclient is its other end.
# Made by scripts/distribution.sh. Further arguments go to `ipc serve`, e.g. --workload; 1k-10k unless said.
exec "$(dirname "$(readlink -f "$0")")/../scripts/ipc" serve --side managed --address fifo://ipc-pair --codec json "$@"
