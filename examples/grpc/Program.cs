// gRPC over shared memory: the service and its client are what they are over TCP, but for the two lines that name the address.
//   grpc serve shm://prices
//   grpc ask   shm://prices EURUSD
//   grpc measure 9 shm://prices unix://prices /tmp/prices.sock     (what each serves; Measure.cs)
using Examples;
using Grpc.Core;
using Grpc.Net.Client;
using Ipc;
using Ipc.AspNetCore;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

return args switch
{
    ["serve", .. var addresses] => await ServeAsync(addresses),
    ["ask", var address, var name] => await AskAsync(address, name),
    ["measure", var rounds, .. var addresses] => await Measure.RunAsync(int.Parse(rounds), addresses),
    _ => Usage(),
};

static int Usage()
{
    Console.Error.WriteLine("usage: grpc serve ADDRESS... | grpc ask ADDRESS NAME | grpc measure ROUNDS ADDRESS...");
    return 2;
}

static async Task<int> ServeAsync(string[] addresses)
{
    var builder = WebApplication.CreateSlimBuilder();
    builder.Logging.ClearProviders();
    builder.WebHost.UseIpc();
    builder.WebHost.ConfigureKestrel(kestrel =>
    {
        foreach (var address in addresses)
            Measure.Listen(kestrel, address, listen => listen.Protocols = HttpProtocols.Http2); // kestrel.ListenIpc(address, ...)
    });
    builder.Services.AddGrpc();
    await using var app = builder.Build();
    app.MapGrpcService<PricesService>();
    await app.StartAsync();
    Console.WriteLine($"listening at {string.Join(' ', addresses)}; the end of the input ends it");
    await Console.In.ReadLineAsync();
    await app.StopAsync();
    return 0;
}

static async Task<int> AskAsync(string address, string name)
{
    using var channel = GrpcChannel.ForAddress("http://localhost",
        new GrpcChannelOptions { HttpHandler = IpcHttp.CreateHandler(address), DisposeHttpClient = true });
    var prices = new Prices.PricesClient(channel);
    var price = await prices.AskAsync(new Question { Name = name });
    Console.WriteLine($"{price.Name} {price.Bid:0.00}");
    using var watch = prices.Watch(new Question { Name = name });
    for (var seen = 0; seen < 3 && await watch.ResponseStream.MoveNext(default); seen++)
        Console.WriteLine($"{watch.ResponseStream.Current.Name} now {watch.ResponseStream.Current.Bid:0.00}");
    try
    {
        await prices.AskAsync(new Question { Name = "nothing" });
    }
    catch (RpcException e) when (e.StatusCode == StatusCode.NotFound)
    {
        Console.WriteLine(e.Status.Detail);
    }
    return 0;
}

internal sealed class PricesService : Prices.PricesBase
{
    public override Task<Price> Ask(Question request, ServerCallContext context) => request.Name == "EURUSD"
        ? Task.FromResult(new Price { Name = request.Name, Bid = 1.08 })
        : throw new RpcException(new Status(StatusCode.NotFound, $"no price of {request.Name}"));

    public override async Task Watch(Question request, IServerStreamWriter<Price> responseStream, ServerCallContext context)
    {
        for (var bid = 1.08; ; bid += 0.01)
            await responseStream.WriteAsync(new Price { Name = request.Name, Bid = bid }, context.CancellationToken);
    }
}
