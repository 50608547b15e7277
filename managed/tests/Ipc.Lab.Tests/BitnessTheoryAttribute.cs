using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>A theory that plays a 32-bit peer: left out, with the reason, where the system starts no 32-bit programs. That the peer is not built is no
/// reason.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class BitnessTheoryAttribute : TheoryAttribute
{
    public BitnessTheoryAttribute()
    {
        var programs = Programs.OfThisTree();
        if (programs.CannotStartX86)
            Skip = programs.WhyCannotPlay("native-x86");
    }
}
