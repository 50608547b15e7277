// What others published, beside ours; no ratio is made of the two, for the machines differ.
section(
  'published',
  'Published figures beside ours',
  (body, changed) => {
    if (changed) return;
    const repeated = data.published.filter(row => row.here != null);
    const rest = data.published.filter(row => row.here == null);
    const table = (rows, caption) =>
      element(
        'div',
        { className: 'scroll' },
        element(
          'table',
          null,
          element('caption', { className: 'hidden' }, caption),
          element(
            'thead',
            null,
            element(
              'tr',
              null,
              ['source', 'what', 'theirs', 'here', 'note'].map((t, i) =>
                element('th', { scope: 'col', className: i === 2 || i === 3 ? 'n' : null }, t),
              ),
            ),
          ),
          element(
            'tbody',
            null,
            rows.map(row =>
              element(
                'tr',
                null,
                element('td', null, row.source),
                element('td', null, row.what),
                element('td', { className: 'n' }, units.time(row.theirs)),
                element('td', { className: 'n' }, units.time(row.here)),
                element('td', null, row.note),
              ),
            ),
          ),
        ),
      );
    body.replaceChildren(
      element(
        'p',
        { className: 'about' },
        'Mean time of one operation. Theirs were measured on other machines by other programs; they are shown, never mixed in, and no ratio is made of them.',
      ),
      repeated.length
        ? table(repeated, 'Published figures that were repeated here')
        : element('p', { className: 'nothing' }, 'None of them was repeated in these runs: ipc run --preset seed does.'),
      rest.length
        ? element(
            'details',
            { className: 'data' },
            element('summary', null, `${rest.length} published figures that were not repeated here`),
            table(rest, 'Published figures not repeated here'),
          )
        : null,
    );
  },
  'Published figures',
);
