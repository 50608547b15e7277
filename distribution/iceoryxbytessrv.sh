#!/bin/sh
# The native server of transport iceoryx with codec raw; *iceoryxbytesclient is its other end.
# Made by scripts/distribution.sh. Further arguments go to `ipc serve`, e.g. --workload; 1k-10k unless said.
exec "$(dirname "$(readlink -f "$0")")/../scripts/ipc" serve --side native --address iceoryx://ipc-pair --codec raw "$@"
