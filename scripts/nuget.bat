@echo off
rem Fetches what the build needs on Windows: NuGet packages, and by vcpkg the native libraries of vcpkg.json into lib\vcpkg.
rem Run it in a Developer Command Prompt of Visual Studio 2022 or later with the C++ and .NET workloads and vcpkg.
rem   scripts\nuget.bat
rem IPC_PLATFORM=x86 fetches 32-bit libraries; without it 64-bit ones.
setlocal
if "%IPC_PLATFORM%"=="" set IPC_PLATFORM=x64
cd /d "%~dp0.."

where msbuild >nul 2>nul || (
    echo msbuild was not found: run this in a Developer Command Prompt of Visual Studio. 1>&2
    exit /b 1
)
where dotnet >nul 2>nul || (
    echo dotnet was not found: install the .NET 10 SDK. 1>&2
    exit /b 1
)
where vcpkg >nul 2>nul || (
    echo vcpkg was not found: add the vcpkg component in the Visual Studio Installer, or put your own onto PATH. 1>&2
    exit /b 1
)

dotnet restore ipc.sln || exit /b 1
rem Visual C++ projects find the libraries only once vcpkg is integrated into this user's MSBuild.
vcpkg integrate install >nul || exit /b 1
vcpkg install --triplet %IPC_PLATFORM%-windows --x-install-root=lib\vcpkg\%IPC_PLATFORM%-windows || exit /b 1
