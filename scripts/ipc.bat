@echo off
rem The `ipc` command of a built tree, from any working directory.
set "lab=%~dp0..\artifacts\bin\Ipc.Lab\release\ipc-lab.dll"
if not exist "%lab%" (
  echo the lab is not built: run "dotnet build ipc.sln -c Release" in "%~dp0.." 1>&2
  exit /b 2
)
dotnet "%lab%" %*
