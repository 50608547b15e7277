@echo off
rem The native client of transport boost-mq with codec custom; *boostmqcustomsrv is its other end.
rem Made by scripts/distribution.sh. Further arguments go to `ipc drive`, e.g. --workload; 1k-10k unless said.
call "%~dp0..\scripts\ipc.bat" drive --side native --address boost-mq://ipc-pair --codec custom %*
