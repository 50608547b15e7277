@echo off
rem The native server of transport shm with codec flatbuffers; *shmflatbuffersclient is its other end.
rem Made by scripts/distribution.sh. Further arguments go to `ipc serve`, e.g. --workload; 1k-10k unless said.
call "%~dp0..\scripts\ipc.bat" serve --side native --address shm://ipc-pair --codec flatbuffers %*
