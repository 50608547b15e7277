@echo off
rem The mixed-pair matrix of a built tree: every server side with every client side over the transports asked for, as one table of pairs per transport.
rem   scripts\matrix.bat [TRANSPORTS] [further arguments of `ipc run`]     transports in quotes: "shm,pipe"; without arguments: shm, pipe and tcp
setlocal
set "transports=%~1"
if "%transports%"=="" set "transports=shm,pipe,tcp"
set "pairs=native:native,native:managed,native:bound,managed:native,managed:managed,managed:bound,bound:native,bound:managed,bound:bound"
for /f %%t in ('powershell -NoProfile -Command "Get-Date -Format yyyyMMdd-HHmmss"') do set "out=results\matrix-%%t"
set "workload=--workload 1k-10k"
echo %* | findstr /c:"--workload" >nul && set "workload="
call "%~dp0ipc.bat" run --transport "%transports%" --pair "%pairs%" --out "%out%" %workload% %2 %3 %4 %5 %6 %7 %8 %9 >nul
set code=%errorlevel%
if exist "%out%\results.json" call "%~dp0ipc.bat" matrix "%out%"
exit /b %code%
