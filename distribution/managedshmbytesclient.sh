#!/bin/sh
# The managed client of transport shm with codec raw; *shmbytessrv is its other end.
# Made by scripts/distribution.sh. Further arguments go to `ipc drive`, e.g. --workload; 1k-10k unless said.
exec "$(dirname "$(readlink -f "$0")")/../scripts/ipc" drive --side managed --address shm://ipc-pair --codec raw "$@"
