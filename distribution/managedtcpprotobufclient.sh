#!/bin/sh
# The managed client of transport tcp with codec protobuf; *tcpprotobufsrv is its other end.
# Made by scripts/distribution.sh. Further arguments go to `ipc drive`, e.g. --workload; 1k-10k unless said.
exec "$(dirname "$(readlink -f "$0")")/../scripts/ipc" drive --side managed --address tcp://45454 --codec protobuf "$@"
