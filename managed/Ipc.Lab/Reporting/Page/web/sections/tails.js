// Latency distributions: from the middle of the operations to the worst of them.
section(
  'tails',
  'How late the late ones are',
  body => {
    const need = question.need;
    const cells = question.cells(c => c.pair === question.pair && c.need === need?.key);
    const figure = element(
      'figure',
      null,
      element(
        'figcaption',
        null,
        need ? needName(need) : '',
        element('small', null, `${pairName(question.pair)}; time below which a share of the operations stays`),
      ),
    );
    body.replaceChildren(
      element(
        'p',
        { className: 'about' },
        'Each percentile is the median over the launches of the launch’s own. One that too few operations were made for is left out, so some lines end early.' +
          (need && isStream(need) ? ' One-way messages are timed by the thousand: these are percentiles of a thousand messages each, divided.' : ''),
      ),
      figure,
    );
    const steps = [
      ['p50', 'p50_ns', 'p50_ci'],
      ['p90', 'p90_ns', 'p90_ci'],
      ['p99', 'p99_ns', 'p99_ci'],
      ['p99.9', 'p999_ns', 'p999_ci'],
      ['p99.99', 'p9999_ns', 'p9999_ci'],
    ].filter(([, key]) => cells.some(c => c[key] != null));
    const names = data.transportNames.filter(t => cells.some(c => c.transport === t));
    // Side by side, so that whiskers do not hide one another.
    const aside = i => (i - (names.length - 1) / 2) * Math.min(0.05, 0.5 / names.length);
    const lines = names.map((name, i) => {
      const cell = cells.find(c => c.transport === name);
      return steps.flatMap(([title, value, range], at) =>
        cell[value] == null ? [] : [{ at: at + aside(i), title, transport: name, value: cell[value], range: cell[range] }],
      );
    });
    charts.draw(figure, {
      height: 440,
      label: `Latency percentiles by transport${need ? ` for ${needName(need)}` : ''}, ${pairName(question.pair)}`,
      nothing:
        cells.length === 0
          ? 'Not measured for this pair over these transports.'
          : steps.length < 2
            ? 'Too few operations were made for any percentile but the median.'
            : null,
      rows: () => [
        ['transport', ...steps.map(s => s[0])],
        ...names.map(name => [name, ...steps.map(s => units.time(cells.find(c => c.transport === name)[s[1]]))]),
      ],
      option: width =>
        lineChart(
          width,
          names,
          lines,
          p => p.at,
          stepAxis(steps.map(s => s[0])),
          p => p.value,
          p => p.range,
          units.tick,
          p =>
            charts.tip(`${p.transport}, ${p.title}`, [
              units.time(p.value),
              p.range ? `interval ${units.interval(p.range, units.time)}` : 'no interval',
            ]),
        ),
    });
  },
  'Tails',
);

// Categories at whole numbers, with room between them.
function stepAxis(names) {
  const t = charts.theme();
  const at = names.map((_, i) => i);
  return {
    type: 'value',
    min: -0.4,
    max: names.length - 0.6,
    splitLine: { show: false },
    axisLine: { lineStyle: { color: t.line } },
    axisLabel: { color: t.text, customValues: at, formatter: value => names[value] ?? '' },
    axisTick: { show: false, customValues: at },
  };
}
