@echo off
rem The managed server of transport com with codec flatbuffers; *comflatbuffersclient is its other end.
rem Made by scripts/distribution.sh. Further arguments go to `ipc serve`, e.g. --workload; 1k-10k unless said.
call "%~dp0..\scripts\ipc.bat" serve --side managed --address com://ipc-pair --codec flatbuffers %*
