@echo off
rem From a clean clone to measured results: dependencies, build, then `ipc run` with the quick preset into results\<time>.
rem Run it in a Developer Command Prompt of Visual Studio. Arguments are those of `ipc run` and follow the defaults.
rem   scripts\run.bat [--transport tcp] [--pair native:managed] ...
setlocal
if "%IPC_PLATFORM%"=="" set IPC_PLATFORM=x64
cd /d "%~dp0.."

call scripts\nuget.bat || exit /b 1
msbuild ipc.sln -m -nologo -v:minimal -p:Configuration=Release -p:Platform=%IPC_PLATFORM% || exit /b 1

rem The clock in a form that sorts and does not depend on the country.
for /f %%t in ('powershell -NoProfile -Command "Get-Date -Format yyyyMMdd-HHmmss"') do set out=results\%%t
call scripts\ipc.bat run --preset quick --out "%out%" %*
set code=%errorlevel%
if exist "%out%" echo Results are in %cd%\%out%
exit /b %code%
