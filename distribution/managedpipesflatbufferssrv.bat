@echo off
rem The managed server of transport pipe with codec flatbuffers; *pipesflatbuffersclient is its other end.
rem Made by scripts/distribution.sh. Further arguments go to `ipc serve`, e.g. --workload; 1k-10k unless said.
call "%~dp0..\scripts\ipc.bat" serve --side managed --address pipe://ipc-pair --codec flatbuffers %*
