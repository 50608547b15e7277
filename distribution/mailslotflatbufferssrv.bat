@echo off
rem The native server of transport mailslot with codec flatbuffers; *mailslotflatbuffersclient is its other end.
rem Made by scripts/distribution.sh. Further arguments go to `ipc serve`, e.g. --workload; 1k-10k unless said.
call "%~dp0..\scripts\ipc.bat" serve --side native --address mailslot://ipc-pair --codec flatbuffers %*
