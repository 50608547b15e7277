@echo off
rem The managed client of transport shm with codec json; *shmjsonsrv is its other end.
rem Made by scripts/distribution.sh. Further arguments go to `ipc drive`.
call "%~dp0..\scripts\ipc.bat" drive --side managed --address shm://ipc-pair --codec json --workload 1k-10k %*
