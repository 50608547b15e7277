using System.ServiceModel;

namespace Ipc.Peer;

/// <summary>What the lab measures over WCF: bytes there and back, which any codec may have made.</summary>
[ServiceContract(Namespace = "urn:ipc", SessionMode = SessionMode.Allowed)]
public interface ICalls
{
    /// <summary>Request and reply.</summary>
    [OperationContract]
    byte[] Call(byte[] request);

    /// <summary>A message whose receiver only confirms it.</summary>
    [OperationContract]
    void Push(byte[] message);

    /// <summary>The client has made its last call and is about to close.</summary>
    [OperationContract]
    void Leave();
}

/// <summary>The same with streamed transfer, which wants a stream to be all there is of a message.</summary>
[ServiceContract(Namespace = "urn:ipc", SessionMode = SessionMode.NotAllowed)]
public interface IStreamedCalls
{
    /// <summary>Request and reply.</summary>
    [OperationContract]
    Stream Call(Stream request);

    /// <summary>A message whose receiver only confirms it.</summary>
    [OperationContract]
    void Push(Stream message);

    /// <summary>The client has made its last call and is about to close.</summary>
    [OperationContract]
    void Leave();
}

/// <summary>A client's end: calls by bytes, whatever the transfer. One thread at a time.</summary>
internal interface ICallClient : IDisposable
{
    /// <summary>Calls and returns the reply.</summary>
    byte[] Call(byte[] request);

    /// <summary>Sends a message and returns when the service has confirmed it.</summary>
    void Push(byte[] message);

    /// <summary>Tells the service that this was all.</summary>
    void Leave();
}
