using System.Text;

namespace Ipc.Codecs.Tests;

/// <summary>docs/wire-formats.md "JSON codec".</summary>
public sealed class JsonTests
{
    private static readonly CodecUnderTest s_codec = CodecUnderTest.Get("json");

    [Fact]
    public void FieldsStandInOrderWithoutWhiteSpace()
    {
        Assert.Equal("""{"sequence":1,"name":"t","ids":["a","b"],"fields":[]}""",
            Text(s_codec.Encode(new Request { Sequence = 1, Name = "t", Ids = ["a", "b"], Fields = [] })));
        Assert.Equal("""{"sequence":18446744073709551615,"columns":4294967295,"cells":["x"]}""",
            Text(s_codec.Encode(new Reply { Sequence = ulong.MaxValue, Columns = uint.MaxValue, Cells = ["x"] })));
    }

    [Fact]
    public void OnlyWhatMustBeIsEscaped()
    {
        var controls = string.Concat(Enumerable.Range(0, 0x20).Select(c => (char)c));
        var text = Text(s_codec.Encode(new Reply { Sequence = 1, Columns = 1, Cells = [controls + "\"\\/<>&'+\u007f\u0080é語😀\u2028"] }));
        Assert.Equal(
            """{"sequence":1,"columns":1,"cells":["\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f"""
            + """\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f\"\\/<>&'+"""
            + "\u007f\u0080é語😀\u2028\"]}", text);
    }

    [Theory]
    [InlineData("""{"fields":["f"],"ids":[],"name":"n","sequence":3}""")]
    [InlineData(" { \"sequence\" : 3 ,\t\"name\" : \"n\",\r\n\"ids\" : [ ] , \"fields\" : [ \"f\" ] } \n")]
    [InlineData("""{"sequence":3,"unknown":{"deep":[1,{"a":null}]},"name":"n","ids":[],"fields":["\u0066"],"more":true}""")]
    public void AnyOrderWhiteSpaceAndUnknownFieldsAreRead(string json) =>
        Samples.AssertSame(new Request { Sequence = 3, Name = "n", Ids = [], Fields = ["f"] }, s_codec.DecodeRequest(Encoding.UTF8.GetBytes(json)));

    [Theory]
    [InlineData("")]
    [InlineData("null")]
    [InlineData("[]")]
    [InlineData("7")]
    [InlineData("{}")]
    [InlineData("""{"name":"n","ids":[],"fields":[]}""")]
    [InlineData("""{"sequence":3,"ids":[],"fields":[]}""")]
    [InlineData("""{"sequence":3,"name":"n","fields":[]}""")]
    [InlineData("""{"sequence":3,"name":"n","ids":[]}""")]
    [InlineData("""{"sequence":3,"name":null,"ids":[],"fields":[]}""")]
    [InlineData("""{"sequence":3,"name":"n","ids":null,"fields":[]}""")]
    [InlineData("""{"sequence":3,"name":"n","ids":["a",null],"fields":[]}""")]
    [InlineData("""{"sequence":3,"name":"n","ids":[1],"fields":[]}""")]
    [InlineData("""{"sequence":3,"name":"n","ids":"a","fields":[]}""")]
    [InlineData("""{"sequence":-1,"name":"n","ids":[],"fields":[]}""")]
    [InlineData("""{"sequence":1.5,"name":"n","ids":[],"fields":[]}""")]
    [InlineData("""{"sequence":18446744073709551616,"name":"n","ids":[],"fields":[]}""")]
    [InlineData("""{"sequence":"3","name":"n","ids":[],"fields":[]}""")]
    [InlineData("""{"sequence":3,"name":"n","ids":[],"fields":[]}x""")]
    [InlineData("""{"sequence":3,"name":"n","ids":[],"fields":[],}""")]
    [InlineData("""{"sequence":3,"name":"\ud83d","ids":[],"fields":[]}""")]
    public void WhatIsNotARequestIsRefused(string json) =>
        Assert.Throws<CodecException>(() => s_codec.DecodeRequest(Encoding.UTF8.GetBytes(json)));

    [Theory]
    [InlineData("""{"columns":1,"cells":[]}""")]
    [InlineData("""{"sequence":3,"cells":[]}""")]
    [InlineData("""{"sequence":3,"columns":1}""")]
    [InlineData("""{"sequence":3,"columns":4294967296,"cells":[]}""")]
    [InlineData("""{"sequence":3,"columns":1,"cells":[null]}""")]
    public void WhatIsNotAReplyIsRefused(string json) =>
        Assert.Throws<CodecException>(() => s_codec.DecodeReply(Encoding.UTF8.GetBytes(json)));

    [Fact]
    public void EndlessNestingIsRefused() =>
        Assert.Throws<CodecException>(() => s_codec.DecodeRequest(Encoding.UTF8.GetBytes("{\"unknown\":" + new string('[', 100_000))));

    private static string Text(byte[] bytes) => Encoding.UTF8.GetString(bytes);
}
