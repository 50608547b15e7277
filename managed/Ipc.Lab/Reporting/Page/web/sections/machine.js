// The machine and how the runs were made: what a figure means depends on both.
section(
  'machine',
  'The machine and the runs',
  (body, changed) => {
    if (changed) return;
    const m = data.machine;
    const yes = value => (value == null ? 'not known' : value);
    const facts = [
      ['processor', `${m.cpu.model}, ${m.cpu.cpus} CPUs, ${m.cpu.allowed_cores} cores usable`],
      ['governor, turbo, clock', [m.cpu.governor, m.cpu.turbo, m.cpu.clocksource].map(yes).join(', ')],
      ['virtualisation, steal', `${m.virtualisation}, ${m.steal_percent == null ? 'not known' : `${m.steal_percent} %`}`],
      ['system', `${m.system}, kernel ${m.kernel}, ${m.architecture}`],
      ['memory, huge pages', `${units.bytes(m.memory_bytes)}, ${m.transparent_huge_pages ?? 'none'}`],
      ...Object.entries(m.peers ?? {})
        .sort()
        .map(([side, p]) => [`side ${side}`, [p.runtime, p.compiler, p.build, p.library].filter(Boolean).join(', ')]),
    ];
    const list = pairs =>
      element(
        'dl',
        null,
        pairs.map(([name, value]) => [element('dt', null, name), element('dd', null, `${value}`)]),
      );
    body.replaceChildren(
      list(facts),
      ...data.runs.map((run, i) =>
        element('div', null, element('h3', null, data.runs.length > 1 ? `Run ${i + 1}: ${run.folder}` : `Run ${run.folder}`), list(runFacts(run))),
      ),
      element(
        'details',
        { className: 'data' },
        element('summary', null, 'Hashes of the programs'),
        list((m.binaries ?? []).map(b => [b.file, `sha256 ${b.sha256}`])),
      ),
    );
  },
  'Machine',
);

function runFacts(run) {
  const f = run.floors;
  const floors = f
    ? [
        ['cache line', f.cacheline_rtt_ns],
        ['slot', f.slot_rtt_ns?.['64']],
        ['futex', f.futex_rtt_ns],
        ['pipe', f.pipe_rtt_ns],
        ['unix', f.unix_rtt_ns],
        ['clock', f.clock_ns],
      ]
        .filter(([, ns]) => ns != null)
        .map(([name, ns]) => `${name} ${units.time(ns)}`)
        .join(', ')
    : null;
  return [
    ['made', `${run.started.slice(0, 16).replace('T', ' ')} UTC, preset ${run.preset}, seed ${run.seed}`],
    ['launches', `${run.launches} of each cell, ${run.seconds} s each after at least ${run.warmup_seconds} s of warm-up; ${run.pins}`],
    ['floors (round trips)', floors ?? `failed: ${run.floors_reason ?? 'not measured'}`],
    f?.memcpy_bytes_per_s ? ['memory copied', `${units.bytes(f.memcpy_bytes_per_s)}/s`] : null,
    run.placements?.length > 1
      ? ['placements', run.placements.map(p => `${p.label}: line ${units.time(p.line_ns)}, ${p.launches} launches`).join('; ')]
      : null,
  ].filter(Boolean);
}

// Headline figures of the other machines of this report. Each has a column of its own, and no figure is made of two machines.
section('machines', 'Other machines', (body, changed) => {
  if (changed && !changed.some(key => ['server', 'client', 'transport'].includes(key))) return;
  body.parentElement.hidden = data.others.length === 0;
  if (data.others.length === 0) return;
  const here = question.cells(c => c.pair === question.pair && c.count == null);
  const rows = here.filter(c => data.others.some(o => o.cells[`${c.transport} ${c.pair} ${c.need}`]));
  const figure = (p50, range) => [units.time(p50), range ? element('small', null, ` ${units.interval(range, units.time)}`) : null];
  body.replaceChildren(
    element(
      'p',
      { className: 'about' },
      `${pairName(question.pair)}. Side by side, never mixed: compare figures down a column. Figures from Wine prove behaviour, not speed.`,
    ),
    element(
      'p',
      null,
      'Their own pages: ',
      data.others.flatMap((o, i) => [i ? ', ' : null, element('a', { href: o.page }, o.label)]),
    ),
    rows.length === 0
      ? element('p', { className: 'nothing' }, 'No cell of this pair was measured on both.')
      : element(
          'div',
          { className: 'scroll' },
          element(
            'table',
            null,
            element(
              'thead',
              null,
              element(
                'tr',
                null,
                ['transport', 'message'].map(t => element('th', { scope: 'col' }, t)),
                [data.label, ...data.others.map(o => o.label)].map(t => element('th', { scope: 'col', className: 'n' }, t)),
              ),
            ),
            element(
              'tbody',
              null,
              rows.map(c =>
                element(
                  'tr',
                  null,
                  element('th', { scope: 'row' }, c.transport),
                  element('td', null, needName(c)),
                  element('td', { className: 'n' }, figure(c.p50_ns, c.p50_ci)),
                  data.others.map(o => {
                    const there = o.cells[`${c.transport} ${c.pair} ${c.need}`];
                    return element('td', { className: 'n' }, there ? figure(there[0], there[1]) : units.unknown);
                  }),
                ),
              ),
            ),
          ),
        ),
  );
});
