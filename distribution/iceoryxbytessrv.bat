@echo off
rem The native server of transport iceoryx with codec raw; *iceoryxbytesclient is its other end.
rem Made by scripts/distribution.sh. Further arguments go to `ipc serve`, e.g. --workload; 1k-10k unless said.
call "%~dp0..\scripts\ipc.bat" serve --side native --address iceoryx://ipc-pair --codec raw %*
