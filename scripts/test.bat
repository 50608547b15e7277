@echo off
rem Builds and runs every test on Windows: the native ones, then each managed project. Ends with 0 only if all passed.
rem Run it in a Developer Command Prompt of Visual Studio.
rem   scripts\test.bat
setlocal
cd /d "%~dp0.."

call scripts\nuget.bat || exit /b 1
msbuild ipc.sln -m -nologo -v:minimal -p:Configuration=Release -p:Platform=x64 || exit /b 1

set failed=
build\release\bin\native-tests.exe || set failed=1
for /d %%p in (managed\tests\*.Tests) do (
    dotnet test artifacts\bin\%%~nxp\release\%%~nxp.dll || set failed=1
)

if defined failed (
    echo Some tests failed; see above. 1>&2
    exit /b 1
)
echo All tests passed.
