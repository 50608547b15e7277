#!/bin/sh
# The managed server of transport shm-event with codec raw; *shmeventbytesclient is its other end.
# Made by scripts/distribution.sh. Further arguments go to `ipc serve`, e.g. --workload; 1k-10k unless said.
exec "$(dirname "$(readlink -f "$0")")/../scripts/ipc" serve --side managed --address shm-event://ipc-pair --codec raw "$@"
