@echo off
rem Builds and runs every test on Windows: the native ones, then each managed project. Ends with 0 only if all passed.
rem Run it in a Developer Command Prompt of Visual Studio.
rem   scripts\test.bat
setlocal
if "%IPC_PLATFORM%"=="" set IPC_PLATFORM=x64
cd /d "%~dp0.."

call scripts\nuget.bat || exit /b 1
msbuild ipc.sln -m -nologo -v:minimal -p:Configuration=Release -p:Platform=%IPC_PLATFORM% || exit /b 1

set failed=
set programs=build\release\bin
if "%IPC_PLATFORM%"=="x86" set programs=build\release-x86\bin
%programs%\native-tests.exe || set failed=1
rem The managed programs are 64-bit ones; the 32-bit library is tested by the native tests.
if "%IPC_PLATFORM%"=="x86" goto summary
for /d %%p in (managed\tests\*.Tests) do (
    dotnet test artifacts\bin\%%~nxp\release\%%~nxp.dll || set failed=1
)

:summary
if defined failed (
    echo Some tests failed; see above. 1>&2
    exit /b 1
)
echo All tests passed.
