namespace Ipc;

internal static class BitOperations
{
    public static int PopCount(ulong value)
    {
        var count = 0;
        for (; value != 0; value &= value - 1)
            count++;
        return count;
    }
}
