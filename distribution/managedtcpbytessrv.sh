#!/bin/sh
# The managed server of transport tcp with codec raw; *tcpbytesclient is its other end.
# Made by scripts/distribution.sh. Further arguments go to `ipc serve`.
exec "$(dirname "$0")/../scripts/ipc" serve --side managed --address tcp://45454 --codec raw --workload 1k-10k "$@"
