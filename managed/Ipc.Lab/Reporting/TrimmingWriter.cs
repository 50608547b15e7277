using System.Text;

namespace Ipc.Lab.Reporting;

/// <summary>Passes lines on without the spaces at their ends, with which columns are filled up: in a file or a mail they would wrap into empty lines.</summary>
/// <param name="inner">Where the lines go; stays the caller's.</param>
internal sealed class TrimmingWriter(TextWriter inner) : TextWriter(inner.FormatProvider)
{
    private readonly StringBuilder _line = new();

    public override Encoding Encoding => inner.Encoding;

    public override void Write(char value)
    {
        if (value != '\n')
        {
            _line.Append(value);
            return;
        }
        inner.WriteLine(_line.ToString().TrimEnd());
        _line.Clear();
    }

    /// <summary>Passes on what has been written of a line, too, as it stands.</summary>
    public override void Flush()
    {
        inner.Write(_line.ToString());
        _line.Clear();
        inner.Flush();
    }
}
