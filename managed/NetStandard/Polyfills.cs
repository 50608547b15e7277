using System.ComponentModel;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;

namespace Ipc;

/// <summary>Members that .NET 10 has on types which are here already, under their own names.</summary>
internal static class Polyfills
{
    extension(ArgumentNullException)
    {
        public static void ThrowIfNull(object? argument, [CallerArgumentExpression(nameof(argument))] string? name = null)
        {
            if (argument is null)
                throw new ArgumentNullException(name);
        }
    }

    extension(ArgumentException)
    {
        public static void ThrowIfNullOrEmpty(string? argument, [CallerArgumentExpression(nameof(argument))] string? name = null)
        {
            if (string.IsNullOrEmpty(argument))
                throw new ArgumentException("The value cannot be null or empty.", name);
        }
    }

    extension(ArgumentOutOfRangeException)
    {
        public static void ThrowIfNegative(int value, [CallerArgumentExpression(nameof(value))] string? name = null)
        {
            if (value < 0)
                throw new ArgumentOutOfRangeException(name, value, "The value must not be negative.");
        }

        public static void ThrowIfGreaterThan(uint value, uint most, [CallerArgumentExpression(nameof(value))] string? name = null)
        {
            if (value > most)
                throw new ArgumentOutOfRangeException(name, value, $"The value must not be greater than {most}.");
        }
    }

    extension(Environment)
    {
        public static long TickCount64 => Stopwatch.GetTimestamp() / (Stopwatch.Frequency / 1000);
    }

    extension(GC)
    {
        public static T[] AllocateUninitializedArray<T>(int length) => new T[length];
    }

    extension(Array)
    {
        /// <summary>The longest array of bytes.</summary>
        public static int MaxLength => 0x7FFFFFC7;
    }

    extension(OperatingSystem)
    {
        public static bool IsLinux() => RuntimeInformation.IsOSPlatform(OSPlatform.Linux);
        public static bool IsWindows() => RuntimeInformation.IsOSPlatform(OSPlatform.Windows);
    }

    extension(Array)
    {
        public static void Fill<T>(T[] array, T value)
        {
            for (var i = 0; i < array.Length; i++)
                array[i] = value;
        }
    }

    extension(Math)
    {
        public static double Clamp(double value, double least, double most) => Math.Min(Math.Max(value, least), most);
        public static long Clamp(long value, long least, long most) => Math.Min(Math.Max(value, least), most);
    }

    extension(double)
    {
        public static bool IsFinite(double value) => !double.IsNaN(value) && !double.IsInfinity(value);
    }

    extension(ExceptionDispatchInfo)
    {
        public static void Throw(Exception exception) => ExceptionDispatchInfo.Capture(exception).Throw();
    }

    extension(char)
    {
        public static bool IsAscii(char c) => c < 0x80;
        public static bool IsAsciiDigit(char c) => c is >= '0' and <= '9';
        public static bool IsAsciiLetter(char c) => (c | 0x20) is >= 'a' and <= 'z';
        public static bool IsAsciiLetterOrDigit(char c) => IsAsciiLetter(c) || IsAsciiDigit(c);
    }

    extension(long)
    {
        public static bool IsPow2(long value) => value > 0 && (value & (value - 1)) == 0;
    }

    extension(ulong)
    {
        public static bool IsPow2(ulong value) => value != 0 && (value & (value - 1)) == 0;
    }

    extension(uint)
    {
        public static bool IsPow2(uint value) => value != 0 && (value & (value - 1)) == 0;
    }

    extension(Interlocked)
    {
        public static uint Exchange(ref uint location, uint value) => (uint)Interlocked.Exchange(ref Unsafe.As<uint, int>(ref location), (int)value);

        public static uint CompareExchange(ref uint location, uint value, uint comparand) =>
            (uint)Interlocked.CompareExchange(ref Unsafe.As<uint, int>(ref location), (int)value, (int)comparand);

        public static uint Increment(ref uint location) => (uint)Interlocked.Increment(ref Unsafe.As<uint, int>(ref location));
    }

    extension(Marshal)
    {
        public static int GetLastPInvokeError() => Marshal.GetLastWin32Error();

        public static unsafe string? PtrToStringUTF8(nint text)
        {
            if (text == 0)
                return null;
            var length = 0;
            while (((byte*)text)[length] != 0)
                length++;
            return Encoding.UTF8.GetString((byte*)text, length);
        }

        public static unsafe string GetPInvokeErrorMessage(int error) => OperatingSystem.IsWindows()
            ? new Win32Exception(error).Message
            // Not Win32Exception: Mono's has Windows' error messages, and these numbers are the system's own.
            : Marshal.PtrToStringAnsi((nint)SystemError.Describe(error)) ?? $"error {error}";
    }

    public static bool Contains(this string text, char character) => text.IndexOf(character) >= 0;
    public static bool Contains(this string text, string part, StringComparison comparison) => text.IndexOf(part, comparison) >= 0;
    public static int IndexOf(this string text, char character, StringComparison comparison) => text.IndexOf(character.ToString(), comparison);
    public static bool StartsWith(this string text, char character) => text.Length > 0 && text[0] == character;
    public static bool EndsWith(this string text, char character) => text.Length > 0 && text[^1] == character;
    public static string Replace(this string text, string old, string other, StringComparison comparison) =>
        comparison == StringComparison.Ordinal ? text.Replace(old, other) : throw new NotSupportedException("only ordinal");

    extension(Encoding encoding)
    {
        public unsafe string GetString(ReadOnlySpan<byte> bytes)
        {
            if (bytes.IsEmpty)
                return "";
            fixed (byte* first = bytes)
                return encoding.GetString(first, bytes.Length);
        }

        public unsafe int GetBytes(string text, Span<byte> room)
        {
            if (text.Length == 0)
                return 0;
            fixed (char* characters = text)
            fixed (byte* first = room)
                return encoding.GetBytes(characters, text.Length, first, room.Length);
        }
    }

    extension(Convert)
    {
        public static string ToHexStringLower(byte[] bytes) =>
            string.Concat(bytes.Select(b => b.ToString("x2", System.Globalization.CultureInfo.InvariantCulture)));
    }

    extension(RandomNumberGenerator)
    {
        public static byte[] GetBytes(int count)
        {
            var bytes = new byte[count];
            using var generator = RandomNumberGenerator.Create();
            generator.GetBytes(bytes);
            return bytes;
        }
    }

    public static bool ContainsAnyExcept(this ReadOnlySpan<byte> bytes, byte value)
    {
        foreach (var b in bytes)
        {
            if (b != value)
                return true;
        }
        return false;
    }

    public static int CommonPrefixLength(this ReadOnlySpan<byte> bytes, ReadOnlySpan<byte> others)
    {
        var length = 0;
        while (length < bytes.Length && length < others.Length && bytes[length] == others[length])
            length++;
        return length;
    }

    public static void Write(this Stream stream, ReadOnlySpan<byte> bytes)
    {
        var copy = bytes.ToArray();
        stream.Write(copy, 0, copy.Length);
    }

    public static string[] Split(this string text, string separator) => text.Split([separator], StringSplitOptions.None);

    public static bool TryAdd<TKey, TValue>(this Dictionary<TKey, TValue> dictionary, TKey key, TValue value)
    {
        if (dictionary.ContainsKey(key))
            return false;
        dictionary.Add(key, value);
        return true;
    }

    public static void Deconstruct<TKey, TValue>(this KeyValuePair<TKey, TValue> pair, out TKey key, out TValue value) => (key, value) = (pair.Key, pair.Value);
}

/// <summary>The system's error message for an error number.</summary>
internal static unsafe partial class SystemError
{
    // Strings of the C library that stay: strerror gives them in the "C" locale, which a .NET program has.
    [LibraryImport("libc", EntryPoint = "strerror")]
    public static partial byte* Describe(int error);
}
