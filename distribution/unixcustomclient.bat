@echo off
rem The native client of transport unix with codec custom; *unixcustomsrv is its other end.
rem Made by scripts/distribution.sh. Further arguments go to `ipc drive`.
call "%~dp0..\scripts\ipc.bat" drive --side native --address unix://ipc-pair --codec custom --workload 1k-10k %*
