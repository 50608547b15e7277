// What others claim, held against the cells of this page: verdicts, and what each rests on.
section(
  'findings',
  'Published claims, tried here',
  (body, changed) => {
    if (changed) return;
    const link = side => (side.view ? element('a', { href: `#${side.view}` }, side.text) : side.text);
    const evidence = finding =>
      element(
        'div',
        { className: 'scroll' },
        element(
          'table',
          null,
          element('caption', { className: 'hidden' }, finding.claim),
          element(
            'thead',
            null,
            element(
              'tr',
              null,
              ['this', 'by this', 'placement', 'ratio or figure', '95 % interval', 'launches', 'says'].map((t, i) =>
                element('th', { scope: 'col', className: i === 3 || i === 4 ? 'n' : null }, t),
              ),
            ),
          ),
          element(
            'tbody',
            null,
            finding.evidence.map(row =>
              element(
                'tr',
                null,
                element('td', null, link(row.over)),
                element('td', null, row.under ? link(row.under) : null),
                element('td', null, row.placement ?? units.unknown),
                element('td', { className: 'n' }, row.value),
                element('td', { className: 'n' }, row.interval),
                element('td', null, row.launches),
                element('td', null, row.says),
              ),
            ),
          ),
        ),
      );
    const details = finding =>
      finding.evidence.length
        ? element(
            'details',
            { className: 'data' },
            element('summary', null, finding.evidence.length === 1 ? '1 comparison' : `${finding.evidence.length} comparisons`),
            finding.note ? element('p', null, finding.note) : null,
            evidence(finding),
          )
        : null;
    body.replaceChildren(
      element(
        'p',
        { className: 'about' },
        'Each claim is held against ratios of cells of one run and one placement. ' +
        'It is confirmed if every interval lies on its side, refuted if none does, and otherwise it depends. ' +
          'What ran under Wine shows an order of cost, nothing else.',
      ),
      element(
        'div',
        { className: 'scroll' },
        element(
          'table',
          null,
          element('caption', { className: 'hidden' }, 'Claims and verdicts'),
          element(
            'thead',
            null,
            element(
              'tr',
              null,
              ['claim', 'source', 'published', 'here', 'verdict'].map(t => element('th', { scope: 'col' }, t)),
            ),
          ),
          element(
            'tbody',
            null,
            data.findings.map(f =>
              element(
                'tr',
                { 'data-kind': f.kind },
                element('td', null, f.claim),
                element('td', null, f.source),
                element('td', null, f.published),
                element('td', null, f.span ?? units.unknown),
                element('td', null, element('b', null, f.kind), withCode(f.verdict.slice(f.kind.length)), details(f)),
              ),
            ),
          ),
        ),
      ),
    );
  },
  'Claims',
);

/** Text whose `commands` stand between backticks, as elements. */
function withCode(text) {
  return text.split('`').map((part, i) => (i % 2 ? element('code', null, part) : part));
}
