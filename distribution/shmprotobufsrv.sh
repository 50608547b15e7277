#!/bin/sh
# The native server of transport shm with codec protobuf; *shmprotobufclient is its other end.
# Made by scripts/distribution.sh. Further arguments go to `ipc serve`, e.g. --workload; 1k-10k unless said.
exec "$(dirname "$(readlink -f "$0")")/../scripts/ipc" serve --side native --address shm://ipc-pair --codec protobuf "$@"
