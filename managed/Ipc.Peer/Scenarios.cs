using System.Runtime.Versioning;
using Ipc.Codecs;

namespace Ipc.Peer;

/// <summary>From the cell's scenario, workload and codec to the code that plays it. Each plays its role to the end and has by then told the
/// runner everything.</summary>
internal static class Scenarios
{
    public static void Play(Cell cell, Control control)
    {
        switch (cell.Scenario, cell.Codec)
        {
            case ("call", "raw"):
                var payloads = new RawPayloads(cell.Workload, cell.Seed);
                Play(cell, control, channel => new RawCall(channel, payloads), channel => new RawCallService(channel, payloads));
                break;
            case ("handler", "raw"):
                RawHandler.Play(cell, control);
                break;
            case ("paced", "raw"):
                var paced = new RawPayloads(cell.Workload, cell.Seed);
                Play(cell, control, channel => new PacedCall(channel, paced, cell.Workload), channel => new RawCallService(channel, paced));
                break;
            case ("pipelined", "raw"):
                var asBytes = new RawPayloads(cell.Workload, cell.Seed);
                Play(cell, control, channel => new PipelinedCall<RawForm>(channel, new RawForm(asBytes), cell.CallsInFlight),
                    channel => new RawCallService(channel, asBytes));
                break;
            case ("shuffled", "raw"):
                var data = new ShuffledData(cell);
                Play(cell, control, channel => new ShuffledCall(channel, data), channel => new ShuffledService(channel, data));
                break;
            case ("startup", "raw"):
                Startup.Play(cell, control);
                break;
            case ("reconnect", "raw"):
                Reconnect.Play(cell, control);
                break;
            case ("batch", "raw"):
                PlayBatch<RawBatchCodec, RawObject, RawObject>(cell, control, RawBatchCodec.DataOf(cell));
                break;
            case ("batch", "custom"):
                PlayBatchOfObjects<CustomCodec<string[], ArrayStrings>, LengthFraming, DomainAccess<string[], ArrayStrings>, Request, Reply>(cell, control);
                break;
            case ("batch", "protobuf"):
                PlayBatchOfObjects<ProtobufCodec<string[], ArrayStrings>, FieldFraming, DomainAccess<string[], ArrayStrings>, Request, Reply>(cell, control);
                break;
            case ("batch", "protobuf-direct"):
                PlayBatchOfObjects<ProtobufDirectCodec, FieldFraming, MessageAccess, Codecs.Messages.Request, Codecs.Messages.Reply>(cell, control);
                break;
            case ("batch", "flatbuffers"):
                PlayBatchOfObjects<FlatBuffersCodec<string[], ArrayStrings>, LengthFraming, DomainAccess<string[], ArrayStrings>, Request, Reply>(
                    cell, control);
                break;
            case ("batch", "json"):
                PlayBatchOfObjects<JsonCodec<string[], ArrayStrings>, LineFraming, DomainAccess<string[], ArrayStrings>, Request, Reply>(cell, control);
                break;
            case ("ui-idle" or "ui-busy" or "ui-blocked", "raw"):
                if (!OperatingSystem.IsWindows())
                    throw Failure.BadCell($"scenario '{cell.Scenario}' needs Windows, whose message loop it is about: see `ipc list scenarios`");
                PlayFromWindow(cell, control);
                break;
            case ("push", "raw"):
                var message = PayloadData.Raw(cell.Seed, cell.Workload.RequestBytes);
                var byCall = cell.TransportKind == "call";
                var bucket = cell.Workload.Bucket;
                if (bucket > 1 && byCall)
                    throw Failure.BadCell(
                        $"workload '{cell.Workload.Id}' has one confirmation for {bucket} messages: a transport of calls confirms each, so take a channel");
                Play(cell, control, channel => new Push(channel, message, bucket, byCall), channel => new PushService(channel, message, bucket, byCall));
                break;
            case ("oneway" or "oneway-batch" or "fanin", "raw"):
                OneWay.Play(cell, control);
                break;
            case ("broadcast" or "broadcast-last", "raw"):
                BroadcastScenario.Play(cell, control);
                break;
            case ("call", "json") when cell.Workload.Text is [var question, var answer]:
                PlayCall<TextJsonCodec, TextMessage, TextMessage>(cell, control, Dialogues.Texts(question, answer));
                break;
            case ("call" or "pipelined", "custom"):
                PlayObjects<CustomCodec<string[], ArrayStrings>, DomainAccess<string[], ArrayStrings>, Request, Reply>(cell, control);
                break;
            case ("call" or "pipelined", "protobuf"):
                PlayObjects<ProtobufCodec<string[], ArrayStrings>, DomainAccess<string[], ArrayStrings>, Request, Reply>(cell, control);
                break;
            case ("call" or "pipelined", "protobuf-direct"):
                PlayObjects<ProtobufDirectCodec, MessageAccess, Codecs.Messages.Request, Codecs.Messages.Reply>(cell, control);
                break;
            case ("call" or "pipelined", "flatbuffers"):
                PlayObjects<FlatBuffersCodec<string[], ArrayStrings>, DomainAccess<string[], ArrayStrings>, Request, Reply>(cell, control);
                break;
            case ("call" or "pipelined", "json"):
                PlayObjects<JsonCodec<string[], ArrayStrings>, DomainAccess<string[], ArrayStrings>, Request, Reply>(cell, control);
                break;
            case ("serialize", _):
                Serialize.Play(cell, control);
                break;
            default:
                throw Failure.BadCell($"this peer has no scenario '{cell.Scenario}' with codec '{cell.Codec}': see `ipc list`");
        }
    }

    [SupportedOSPlatform("windows")]
    private static void PlayFromWindow(Cell cell, Control control)
    {
        var payloads = new RawPayloads(cell.Workload, cell.Seed);
        Play(cell, control, channel => new CallFromWindow(channel, payloads, cell.Scenario), channel => new RawCallService(channel, payloads));
    }

    private static void Play(Cell cell, Control control, Func<IpcChannel, Operation> client, Func<IpcChannel, Service> server)
    {
        if (cell.Role == "client")
            Client.Run(cell, control, client);
        else if (CallTransports.Play(cell))
            CallTransports.Serve(cell, control, server);
        else
            Server.Run(cell, control, server);
    }

    private static void PlayCall<TCodec, TRequest, TReply>(Cell cell, Control control, Dialogue<TRequest, TReply> dialogue)
        where TCodec : struct, ICodec<TRequest, TReply>
        where TRequest : class, ISequenced
        where TReply : class, ISequenced =>
        Play(cell, control,
            channel => cell.Scenario == "pipelined"
                ? new PipelinedCall<ObjectForm<TCodec, TRequest, TReply>>(channel, new ObjectForm<TCodec, TRequest, TReply>(dialogue), cell.CallsInFlight)
                : new ObjectCall<TCodec, TRequest, TReply>(channel, dialogue),
            channel => new ObjectCallService<TCodec, TRequest, TReply>(channel, dialogue));

    private static void PlayObjects<TCodec, TAccess, TRequest, TReply>(Cell cell, Control control)
        where TCodec : struct, ICodec<TRequest, TReply>
        where TAccess : struct, IObjectAccess<TRequest, TReply>
        where TRequest : class, ISequenced
        where TReply : class, ISequenced =>
        PlayCall<TCodec, TRequest, TReply>(cell, control, cell.Workload.Table is { } table
            ? Dialogues.FromTable<TAccess, TRequest, TReply>(table)
            : Dialogues.Generated<TAccess, TRequest, TReply>(cell));

    private static void PlayBatch<TCodec, TRequest, TReply>(Cell cell, Control control, BatchData<TRequest, TReply> data)
        where TCodec : struct, IBatchCodec<TRequest, TReply>
        where TRequest : class, ISequenced
        where TReply : class, ISequenced =>
        Play(cell, control, channel => new BatchCall<TCodec, TRequest, TReply>(channel, data),
            channel => new BatchService<TCodec, TRequest, TReply>(channel, data));

    private static void PlayBatchOfObjects<TCodec, TFraming, TAccess, TRequest, TReply>(Cell cell, Control control)
        where TCodec : struct, ICodec<TRequest, TReply>
        where TFraming : struct, IFraming
        where TAccess : struct, IObjectAccess<TRequest, TReply>
        where TRequest : class, ISequenced
        where TReply : class, ISequenced
    {
        if (cell.Workload.N <= 0)
            throw Failure.BadCell($"workload '{cell.Workload.Id}' has no n, so no objects: use codec raw");
        var request = PayloadData.Request(cell.Seed, cell.Workload.N);
        var reply = PayloadData.Reply(cell.Seed, cell.Workload.N);
        PlayBatch<BatchCodec<TCodec, TFraming, TRequest, TReply>, TRequest, TReply>(cell, control, new(
            cell.Workload.Bucket, () => default(TAccess).BuildRequest(request), () => default(TAccess).BuildReply(reply),
            r => default(TAccess).SameRequest(r, request), r => default(TAccess).SameReply(r, reply)));
    }
}
