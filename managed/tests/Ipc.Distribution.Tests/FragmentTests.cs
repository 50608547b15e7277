using System.Text.RegularExpressions;
using Xunit;

namespace Ipc.Distribution.Tests;

/// <summary>What the pages mark as fragments compiles when it stands where a reader would put it: in a program that has what the fragment
/// takes for granted.</summary>
[Trait("system", "linux")]
public sealed partial class FragmentTests : PastedPrograms
{
    [Fact]
    public void Those_about_dotnet_compile()
    {
        var fragments = Fragments("docs/dotnet.md");
        Assert.Equal(5, fragments.Count);
        var grpc = GrpcVersion().Match(File.ReadAllText(Checkout("Directory.Packages.props"))).Groups[1].Value;
        Save("fragments.cs", $$"""
            #:sdk Microsoft.NET.Sdk.Web
            #:package Ipc@0.1.0
            #:package Ipc.Hosting@0.1.0
            #:package Ipc.AspNetCore@0.1.0
            #:package Grpc.Net.Client@{{grpc}}
            using System.Buffers;
            using System.Text;
            using System.Text.Json;
            using System.Text.Json.Serialization;
            using Grpc.Net.Client;
            using Ipc;
            using Ipc.AspNetCore;
            using Ipc.Hosting;
            using Microsoft.AspNetCore.Server.Kestrel.Core;
            using Microsoft.Extensions.DependencyInjection;

            static async Task Serve(Prices prices)
            {
            {{fragments[0]}}
            }

            static async Task Call(CancellationToken cancellationToken)
            {
            {{fragments[1]}}
            }

            static void Host(WebApplicationBuilder builder)
            {
            {{fragments[2]}}
            }

            static void Listen(WebApplicationBuilder builder)
            {
            {{fragments[3]}}
            }

            static void Connect()
            {
            {{fragments[4]}}
            }

            await Serve(new Prices());
            Func<CancellationToken, Task> call = Call;
            Action<WebApplicationBuilder>[] build = [Host, Listen];
            Action connect = Connect;
            Console.WriteLine($"{call.Method.IsStatic} {build.Length} {connect.Method.IsStatic}");

            internal sealed record Question(string Name);

            internal sealed record Answer(double Price);

            [JsonSerializable(typeof(Question))]
            [JsonSerializable(typeof(Answer))]
            internal sealed partial class MyTypes : JsonSerializerContext;

            internal sealed class Prices
            {
                public Task<Answer> FindAsync(string name, CancellationToken cancellationToken) => Task.FromResult(new Answer(name.Length));

                public ValueTask AnswerAsync(ReadOnlyMemory<byte> request, IBufferWriter<byte> reply, CancellationToken cancellationToken) =>
                    ValueTask.CompletedTask;
            }
            """);
        Run("dotnet", "build", "-c", "Release", "fragments.cs");
    }

    [Fact]
    public void The_one_about_WCF_compiles_for_the_NET_Framework_and_answers()
    {
        var fragment = Assert.Single(Fragments("docs/wcf.md"));
        Save("Program.cs", $$"""
            using System;
            using System.ServiceModel;
            using Ipc.Wcf;

            [ServiceContract]
            public interface IPrices
            {
                [OperationContract]
                string Ask(string name);
            }

            public sealed class Prices : IPrices
            {
                public string Ask(string name) { return name + " 1.08"; }
            }

            public static class Program
            {
                public static void Main()
                {
            {{fragment}}
                    Console.WriteLine(prices.Ask("EURUSD"));
                    Environment.Exit(0); // docs/wcf.md says why
                }
            }
            """);
        Save("wcf.csproj", """
            <Project>
              <Import Project="Sdk.props" Sdk="Microsoft.NET.Sdk" />
              <Import Project="../ipc/managed/NetFx/NetFx.props" />
              <PropertyGroup>
                <OutputType>Exe</OutputType>
              </PropertyGroup>
              <ItemGroup>
                <PackageReference Include="Ipc.Wcf" Version="0.1.0" />
                <Reference Include="System.ServiceModel" />
              </ItemGroup>
              <Import Project="Sdk.targets" Sdk="Microsoft.NET.Sdk" />
              <Import Project="../ipc/managed/NetFx/NetFx.targets" />
            </Project>
            """);
        Run("dotnet", "build", "wcf.csproj", "-c", "Release", "-o", "built", "-nologo", "-v", "quiet");
        Assert.Equal("EURUSD 1.08\n", Run("mono", "built/wcf.exe"));
    }

    private List<string> Fragments(string page) => [.. Fragment().Matches(File.ReadAllText(Checkout(page))).Select(match => match.Groups[1].Value)];

    [GeneratedRegex(@"^```csharp fragment\n(.*?)^```$", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Fragment();
    [GeneratedRegex("Include=\"Grpc.Net.Client\" Version=\"([^\"]+)\"")]
    private static partial Regex GrpcVersion();
}
