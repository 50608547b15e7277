@echo off
rem The managed server of transport msrpc-tcp with codec flatbuffers; *msrpctcpflatbuffersclient is its other end.
rem Made by scripts/distribution.sh. Further arguments go to `ipc serve`, e.g. --workload; 1k-10k unless said.
call "%~dp0..\scripts\ipc.bat" serve --side managed --address msrpc-tcp://ipc-pair --codec flatbuffers %*
