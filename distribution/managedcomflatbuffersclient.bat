@echo off
rem The managed client of transport com with codec flatbuffers; *comflatbufferssrv is its other end.
rem Made by scripts/distribution.sh. Further arguments go to `ipc drive`, e.g. --workload; 1k-10k unless said.
call "%~dp0..\scripts\ipc.bat" drive --side managed --address com://ipc-pair --codec flatbuffers %*
