#!/bin/sh
# The native client of transport shm-event with codec protobuf-direct; *shmeventprotobufdirectsrv is its other end.
# Made by scripts/distribution.sh. Further arguments go to `ipc drive`, e.g. --workload; 1k-10k unless said.
exec "$(dirname "$(readlink -f "$0")")/../scripts/ipc" drive --side native --address shm-event://ipc-pair --codec protobuf-direct "$@"
