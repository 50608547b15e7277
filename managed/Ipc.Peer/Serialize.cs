using System.Diagnostics.CodeAnalysis;
using Ipc.Codecs;

namespace Ipc.Peer;

/// <summary>The course of scenario `serialize`: the codec alone, without IPC.</summary>
[SuppressMessage("Performance", "CA1859", Justification = "The operations differ in type arguments only; the reader needs their common name.")]
internal static partial class Serialize
{
    private const double VariantShareOfTime = 0.25;
    private const double SecondsOfCountedCell = 1;
    private const int LeastOfVariant = 5;
    private const int MostOfVariant = 10_000;

    public static void Play(Cell cell, Control control)
    {
        if (cell.Workload.N <= 0)
            throw Failure.BadCell($"workload '{cell.Workload.Id}' has no n, so no objects to serialize: choose another, see `ipc list workloads`");
        var begin = Clock.Now;
        var (arrays, linked) = Choose(cell);
        var warmth = new Warming(cell, control, arrays, begin).Run(again: false);
        arrays.Times.Keep = true;
        var measurement = Measurement.Run(cell, arrays, warmth.OperationsPerSecond);
        var hot = arrays.Times.TakeMedians();

        var sweep = new CacheSweep();
        var cold = MeasureVariant(cell, control, arrays, sweep);
        var linkedHot = linked is null ? null : MeasureLinked(cell, control, linked);
        var linkedCold = linked is null ? null : MeasureVariant(cell, control, linked, sweep);
        var ways = cell.Codec == "protobuf-direct" ? new WaysToReceive(cell) : null;
        var phases = ToEvent(arrays, hot, cold, linkedHot, linkedCold) with
        {
            FreshDecodeNs = ways is null ? null : MedianOf(cell, control, ways.Fresh),
            ReusedDecodeNs = ways is null ? null : MedianOf(cell, control, ways.Reused),
        };
        control.Emit(phases, EventJson.Default.PhasesEvent);
        measurement.Report(cell, control);
    }

    /// <summary>The operation with arrays, and the same with linked lists where the codec leaves the choice.</summary>
    private static (Serialization Arrays, Serialization? Linked) Choose(Cell cell) => cell.Codec switch
    {
        "custom" => (Custom<string[], ArrayStrings>(cell), Custom<LinkedList<string>, LinkedStrings>(cell)),
        "protobuf" => (Protobuf<string[], ArrayStrings>(cell), Protobuf<LinkedList<string>, LinkedStrings>(cell)),
        "flatbuffers" => (FlatBuffers<string[], ArrayStrings>(cell), FlatBuffers<LinkedList<string>, LinkedStrings>(cell)),
        "json" => (Json<string[], ArrayStrings>(cell), Json<LinkedList<string>, LinkedStrings>(cell)),
        "protobuf-direct" => (ProtobufDirect(cell), null),
        _ when OfLibrary(cell) is { } serialization => (serialization, null),
        _ => throw Failure.BadCell($"codec '{cell.Codec}' has no objects to serialize: choose another, see `ipc list codecs`"),
    };

    /// <summary>A codec that not every .NET has, or null.</summary>
    private static Serialization? OfLibrary(Cell cell)
    {
        Serialization? found = null;
        FindLibrary(cell, ref found);
        return found;
    }

    static partial void FindLibrary(Cell cell, ref Serialization? found);

    private static Serialization Custom<TStrings, TContainer>(Cell cell) where TStrings : class where TContainer : struct, IStrings<TStrings> =>
        Untranslated<CustomCodec<TStrings, TContainer>, DomainAccess<TStrings, TContainer>, Request<TStrings>, Reply<TStrings>>(cell, ViewCustom);

    private static long ViewCustom(ReadOnlySpan<byte> request, ReadOnlySpan<byte> reply)
    {
        long lengths = 0;
        foreach (var text in new CustomRequestView(request))
            lengths += text.Length;
        foreach (var text in new CustomReplyView(reply))
            lengths += text.Length;
        return lengths;
    }

    private static Serialization FlatBuffers<TStrings, TContainer>(Cell cell) where TStrings : class where TContainer : struct, IStrings<TStrings> =>
        Untranslated<FlatBuffersCodec<TStrings, TContainer>, DomainAccess<TStrings, TContainer>, Request<TStrings>, Reply<TStrings>>(cell, ViewFlatBuffers);

    private static long ViewFlatBuffers(ReadOnlySpan<byte> request, ReadOnlySpan<byte> reply)
    {
        long lengths = 0;
        foreach (var text in new FlatBuffersRequestView(request))
            lengths += text.Length;
        foreach (var text in new FlatBuffersReplyView(reply))
            lengths += text.Length;
        return lengths;
    }

    private static Serialization Json<TStrings, TContainer>(Cell cell) where TStrings : class where TContainer : struct, IStrings<TStrings> =>
        Untranslated<JsonCodec<TStrings, TContainer>, DomainAccess<TStrings, TContainer>, Request<TStrings>, Reply<TStrings>>(cell);

    private static Serialization ProtobufDirect(Cell cell) =>
        Untranslated<ProtobufDirectCodec, MessageAccess, Codecs.Messages.Request, Codecs.Messages.Reply>(cell);

    private static Serialization Protobuf<TStrings, TContainer>(Cell cell) where TStrings : class where TContainer : struct, IStrings<TStrings> =>
        new Serialization<ProtobufDirectCodec, DomainAccess<TStrings, TContainer>, ProtobufTranslation<TStrings, TContainer>,
            Request<TStrings>, Reply<TStrings>, Codecs.Messages.Request, Codecs.Messages.Reply>(cell);

    private static Serialization Untranslated<TCodec, TAccess, TRequest, TReply>(Cell cell, TextsInPlace? view = null)
        where TCodec : struct, ICodec<TRequest, TReply>
        where TAccess : struct, IObjectAccess<TRequest, TReply>
        where TRequest : class, ISequenced
        where TReply : class, ISequenced =>
        new Serialization<TCodec, TAccess, NoTranslation<TRequest, TReply>, TRequest, TReply, TRequest, TReply>(cell) { View = view };

    /// <summary>Linked lists are code of their own, which the runtime must compile to its last first.</summary>
    private static StepMedians MeasureLinked(Cell cell, Control control, Serialization linked)
    {
        new WarmUp(linked, VariantSeconds(cell), cell.SettleSeconds).Run();
        return MeasureVariant(cell, control, linked, sweep: null);
    }

    /// <summary>A further variant, for a part of the cell's time. Few operations are enough where each is slow.</summary>
    private static StepMedians MeasureVariant(Cell cell, Control control, Serialization operation, CacheSweep? sweep)
    {
        operation.Sweep = sweep;
        operation.Times.Keep = true;
        var until = Clock.After(Clock.Now, VariantSeconds(cell));
        for (var done = 1; done <= MostOfVariant; done++)
        {
            control.ThrowIfEnded();
            if (operation.Once().End >= until && done >= LeastOfVariant)
                break;
        }
        return operation.Times.TakeMedians();
    }

    // As long as a variant, after as long unmeasured: this is code of its own, too.
    private static long MedianOf(Cell cell, Control control, Action work)
    {
        List<long> took = [];
        Repeat();
        took.Clear();
        Repeat();
        took.Sort();
        return Clock.ToNanoseconds(took[took.Count / 2]);

        void Repeat()
        {
            var until = Clock.After(Clock.Now, VariantSeconds(cell));
            for (var (done, end) = (1, 0L); done <= MostOfVariant && (end < until || done <= LeastOfVariant); done++)
            {
                control.ThrowIfEnded();
                var begin = Clock.Now;
                work();
                end = Clock.Now;
                took.Add(end - begin);
            }
        }
    }

    private static double VariantSeconds(Cell cell) => VariantShareOfTime * (cell.Seconds ?? SecondsOfCountedCell);

    private static PhasesEvent ToEvent(Serialization operation, StepMedians hot, StepMedians cold, StepMedians? linked, StepMedians? linkedCold)
    {
        long? View(StepMedians? medians) => operation.Views ? medians?.ViewNs : null;
        return new(
            hot.BuildNs, hot.TranslateNs, hot.EncodeNs, hot.DecodeNs, hot.TraverseNs, View(hot), hot.CopyNs, operation.RequestBytes, operation.ReplyBytes,
            cold.BuildNs, cold.TranslateNs, cold.EncodeNs, cold.DecodeNs, cold.TraverseNs, View(cold), cold.CopyNs,
            linked?.BuildNs, linked?.TranslateNs, linked?.EncodeNs, linked?.DecodeNs, linked?.TraverseNs, View(linked), linked?.CopyNs,
            linkedCold?.BuildNs, linkedCold?.TranslateNs, linkedCold?.EncodeNs, linkedCold?.DecodeNs, linkedCold?.TraverseNs,
            View(linkedCold), linkedCold?.CopyNs, null, null);
    }
}
