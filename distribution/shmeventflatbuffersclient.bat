@echo off
rem The native client of transport shm-event with codec flatbuffers; *shmeventflatbufferssrv is its other end.
rem Made by scripts/distribution.sh. Further arguments go to `ipc drive`, e.g. --workload; 1k-10k unless said.
call "%~dp0..\scripts\ipc.bat" drive --side native --address shm-event://ipc-pair --codec flatbuffers %*
