global using Xunit;

// The transports there are so far are Linux's own.
[assembly: System.Runtime.Versioning.SupportedOSPlatform("linux")]
