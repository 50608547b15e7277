@echo off
rem The native client of transport pipe with codec json; *pipesjsonsrv is its other end.
rem Made by scripts/distribution.sh. Further arguments go to `ipc drive`.
call "%~dp0..\scripts\ipc.bat" drive --side native --address pipe://ipc-pair --codec json --workload 1k-10k %*
