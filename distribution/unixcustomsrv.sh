#!/bin/sh
# The native server of transport unix with codec custom; *unixcustomclient is its other end.
# Made by scripts/distribution.sh. Further arguments go to `ipc serve`, e.g. --workload; 1k-10k unless said.
exec "$(dirname "$(readlink -f "$0")")/../scripts/ipc" serve --side native --address unix://ipc-pair --codec custom "$@"
