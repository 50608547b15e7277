using System.Text;
using Ipc;

namespace Examples;

/// <summary>Answers for a C++ server. A request is a pair of currencies, the reply its price.</summary>
public static class Prices
{
    private static readonly Dictionary<string, string> s_prices = new() { ["EURUSD bid"] = "1.0842", ["USDJPY bid"] = "151.21" };

    // Called from C++ for each request, on the thread that serves its client. What it throws fails that call.
    public static void Answer(ReadOnlySpan<byte> request, ReplyWriter reply)
    {
        var asked = Encoding.UTF8.GetString(request);
        if (!s_prices.TryGetValue(asked, out var price))
            throw new KeyNotFoundException($"C# has no price of {asked}");
        Encoding.UTF8.GetBytes(price, reply.Reserve(Encoding.UTF8.GetByteCount(price)));
    }
}
