@echo off
rem The native client of transport tcp with codec raw; *tcpbytessrv is its other end.
rem Made by scripts/distribution.sh. Further arguments go to `ipc drive`.
call "%~dp0..\scripts\ipc.bat" drive --side native --address tcp://45454 --codec raw --workload 1k-10k %*
