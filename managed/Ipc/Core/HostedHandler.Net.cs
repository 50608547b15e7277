using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Text;

namespace Ipc;

/// <summary>A handler that native code calls (ipc/hosting.h): library ipc-hosting finds this type by name in a process into which it brought .NET.
/// No exception crosses to the native side, and nothing is allocated per call.</summary>
internal sealed unsafe class HostedHandler
{
    private const int LongestMessage = int.MaxValue;

    [ThreadStatic]
    private static NativeReplyWriter? t_writer;

    private readonly RequestHandler _handler;

    private HostedHandler(RequestHandler handler) => _handler = handler;

    /// <summary>Finds a handler. The texts are UTF-8; a failure's error message goes to <paramref name="message"/>, cut to its capacity.</summary>
    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    [RequiresUnreferencedCode("The handler is named by native code.")]
    internal static int Bind(byte* assembly, byte* type, byte* method, nint* answer, nint* handler, byte* message, int capacity)
    {
        try
        {
            var found = Find(Text(assembly), Text(type), Text(method));
            *answer = (nint)(delegate* unmanaged[Cdecl]<nint, byte*, nuint, void*, NativeWriterFunctions*, int>)&Answer;
            *handler = GCHandle.ToIntPtr(GCHandle.Alloc(new HostedHandler(found)));
            return (int)IpcStatus.Ok;
        }
        catch (Exception e)
        {
            var (status, reason) = e is IpcException failure ? (failure.Status, e.Message) : (IpcStatus.NotAvailable, $"{e.GetType().Name}: {e.Message}");
            Tell(reason, message, capacity);
            return (int)status;
        }
    }

    /// <summary>Lets go of a handler.</summary>
    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    internal static void Free(nint handler) => GCHandle.FromIntPtr(handler).Free();

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int Answer(nint handler, byte* request, nuint length, void* writer, NativeWriterFunctions* functions)
    {
        // Taken while the handler runs, which may itself serve another channel on this thread.
        var reply = t_writer ?? new NativeReplyWriter();
        t_writer = null;
        try
        {
            if (length > LongestMessage)
                throw new IpcException(IpcStatus.MessageTooLarge,
                    $"the request has {length} bytes, more than a span can have: give the address a smaller max=");
            reply.Begin(writer, functions);
            Unsafe.As<HostedHandler>(GCHandle.FromIntPtr(handler).Target!)._handler(new ReadOnlySpan<byte>(request, (int)length), reply);
            return (int)IpcStatus.Ok;
        }
        // No failure of the handler's: native code says the same of a channel that has ended.
        catch (IpcException e) when (reply.IsEndOfChannel(e))
        {
            return (int)e.Status;
        }
        catch (Exception e)
        {
            Fail(e, writer, functions);
            return (int)IpcStatus.HandlerFailed;
        }
        finally
        {
            t_writer = reply;
        }
    }

    private static void Fail(Exception e, void* writer, NativeWriterFunctions* functions)
    {
        try
        {
            var text = Encoding.UTF8.GetBytes(e.Message + "\0");
            fixed (byte* bytes = text)
                _ = functions->Fail(writer, bytes);
        }
        // An exception without a message that can be told: the status says that the call failed.
        catch (Exception)
        {
        }
    }

    [RequiresUnreferencedCode("The handler is named by native code.")]
    private static RequestHandler Find(string assembly, string type, string method)
    {
        // Where this assembly was loaded for the other one's sake.
        var context = AssemblyLoadContext.GetLoadContext(typeof(HostedHandler).Assembly) ?? AssemblyLoadContext.Default;
        var main = context.LoadFromAssemblyPath(assembly);
        var owner = type.Contains(',', StringComparison.Ordinal) ? Type.GetType(type, context.LoadFromAssemblyName, null) : main.GetType(type);
        if (owner is null)
            throw Missing($"there is no type '{type}' in '{assembly}': give its full name, namespace first");

        const BindingFlags Statics = BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic;
        var named = owner.GetMember(method, MemberTypes.Method, Statics).Cast<MethodInfo>().ToArray();
        if (named.FirstOrDefault(IsHandler) is { } handler)
            return handler.CreateDelegate<RequestHandler>();
        if (named.FirstOrDefault(IsMaker) is { } maker)
            return Make(maker);
        const string Wanted = "static void NAME(ReadOnlySpan<byte> request, ReplyWriter reply), or static RequestHandler NAME()";
        throw Missing(named.Length == 0
            ? $"there is no static method '{method}' in '{type}' of '{assembly}': a handler is {Wanted}"
            : $"'{named[0]}' in '{type}' of '{assembly}' is no handler: a handler is {Wanted}");
    }

    private static bool IsHandler(MethodInfo method) =>
        method.ReturnType == typeof(void) && !method.IsGenericMethod &&
        method.GetParameters().Select(p => p.ParameterType).SequenceEqual([typeof(ReadOnlySpan<byte>), typeof(ReplyWriter)]);

    private static bool IsMaker(MethodInfo method) =>
        method.ReturnType == typeof(RequestHandler) && !method.IsGenericMethod && method.GetParameters().Length == 0;

    private static RequestHandler Make(MethodInfo maker)
    {
        try
        {
            return maker.CreateDelegate<Func<RequestHandler>>()() ?? throw Missing($"'{maker}' gave no handler but null");
        }
        catch (Exception e) when (e is not IpcException)
        {
            throw new IpcException(IpcStatus.HandlerFailed, $"'{maker}' did not give a handler but threw {e.GetType().Name}: {e.Message}");
        }
    }

    private static IpcException Missing(string what) => new(IpcStatus.NotAvailable, what);

    private static string Text(byte* text) => Encoding.UTF8.GetString(MemoryMarshal.CreateReadOnlySpanFromNullTerminated(text));

    private static void Tell(string text, byte* to, int capacity)
    {
        var room = new Span<byte>(to, capacity - 1);
        Encoding.UTF8.GetEncoder().Convert(text, room, flush: true, out _, out var written, out _);
        to[written] = 0;
    }

    // ipc_hosted_writer.
    [StructLayout(LayoutKind.Sequential)]
    private readonly struct NativeWriterFunctions
    {
        public readonly nuint Size;
        public readonly delegate* unmanaged[Cdecl]<void*, nuint, byte**, IpcStatus> Reserve;
        public readonly delegate* unmanaged[Cdecl]<void*, byte*, IpcStatus> Fail;
        public readonly delegate* unmanaged[Cdecl]<byte*> Error;
    }

    private sealed class NativeReplyWriter : ReplyWriter
    {
        private void* _writer;
        private NativeWriterFunctions* _functions;
        private IpcStatus _refused; // why a room could not be had

        public void Begin(void* writer, NativeWriterFunctions* functions)
        {
            _writer = writer;
            _functions = functions;
            _refused = IpcStatus.Ok;
        }

        internal override bool IsEndOfChannel(Exception exception) =>
            exception is IpcException refused && refused.Status == _refused && IsEndOfChannel(_refused);

        public override Span<byte> Reserve(int length)
        {
            ArgumentOutOfRangeException.ThrowIfNegative(length);
            byte* room;
            var status = _functions->Reserve(_writer, (nuint)length, &room);
            if (status == IpcStatus.Ok)
                return new Span<byte>(room, length);
            _refused = status;
            throw new IpcException(status, Text(_functions->Error()));
        }
    }
}
