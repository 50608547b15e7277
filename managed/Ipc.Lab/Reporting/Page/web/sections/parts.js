// Where the time goes: the steps of an operation, one after another, and of codecs alone.
section(
  'parts',
  'Where the time goes',
  body => {
    const need = question.need;
    const taken = question.cells(c => c.pair === question.pair && c.need === need?.key && c.decomposition);
    const bars = taken
      .sort((a, b) => a.p50_ns - b.p50_ns)
      .map(c => ({
        name: c.transport,
        cell: c,
        steps: [
          ...c.decomposition.steps.map(s => ({ name: s.name, ns: s.ns, how: s.how })),
          { name: 'not explained', ns: Math.max(0, c.decomposition.not_explained_ns), how: 'p50 less the steps' },
        ],
      }));
    const alone = data.sound.filter(c => c.alone && c.phases);
    const workloads = [...new Set(alone.map(c => c.workload))].sort((a, b) => sizeOf(a) - sizeOf(b));
    const first = element(
      'figure',
      null,
      element('figcaption', null, need ? needName(need) : '', element('small', null, `${pairName(question.pair)}; steps of one call, added up`)),
    );
    const others = workloads.map(w =>
      element(
        'figure',
        null,
        element('figcaption', null, `Codecs alone, ${sizeName(w)}`, element('small', null, 'no transport: one process builds, encodes and decodes')),
      ),
    );
    body.replaceChildren(
      element(
        'p',
        { className: 'about' },
        bars.length
          ? 'Measured steps of an operation; whiskers are the interval of its whole median. Where the whole times lie far apart, bars show shares of each.'
          : 'The steps of this message over a transport were not taken apart in this run; those of the codecs alone were, if they stand below.',
      ),
      element('div', { className: 'two' }, bars.length ? first : null, others),
    );
    if (bars.length) drawParts(first, bars, need ? needName(need) : '');
    const stepNames = ['build', 'translate', 'encode', 'decode', 'traverse'];
    workloads.forEach((workload, i) =>
      drawParts(
        others[i],
        alone
          .filter(c => c.workload === workload)
          .sort((a, b) => a.p50_ns - b.p50_ns)
          .map(c => ({
            name: `${c.codec}, ${sideName(c.server)}`,
            cell: c,
            steps: stepNames.flatMap(n => (c.phases[`${n}_ns`] > 0 ? [{ name: n, ns: c.phases[`${n}_ns`], how: '' }] : [])),
          })),
        `codecs alone, ${sizeName(workload)}`,
      ),
    );
    if (!bars.length && !others.length) body.append(element('p', { className: 'nothing' }, 'Nothing of this kind was measured.'));
  },
  'Where the time goes',
);

// In the order in which an operation takes them; what is not explained comes last.
const stepOrder = ['build', 'translate', 'encode', 'boundary', 'transfer', 'wake-up', 'decode', 'traverse', 'not explained'];

function drawParts(figure, bars, label) {
  const rank = name => (stepOrder.includes(name) ? stepOrder.indexOf(name) : stepOrder.length - 2);
  const names = [...new Set(bars.flatMap(b => b.steps.map(s => s.name)))].sort((a, b) => rank(a) - rank(b));
  // Beside milliseconds nothing is seen of nanoseconds: then each bar is a whole, and its time stands in its name.
  const totals = bars.map(b => b.steps.reduce((sum, s) => sum + s.ns, 0));
  const shares = Math.max(...totals) > 12 * Math.min(...totals);
  const scale = i => (shares ? 1 / totals[i] : 1);
  const titles = bars.map(b => (shares ? `${b.name}, ${units.time(b.cell.p50_ns)}` : b.name));
  charts.draw(figure, {
    height: 90 + 28 * bars.length,
    label: `Steps of an operation, ${label}`,
    rows: () => [
      ['', ...names, 'p50'],
      ...bars.map(b => [b.name, ...names.map(n => units.time(b.steps.find(s => s.name === n)?.ns)), units.time(b.cell.p50_ns)]),
    ],
    option(width) {
      const t = charts.theme();
      return {
        grid: { left: 8, right: 24, top: charts.legendHeight(width, names) + 6, bottom: 10, containLabel: true },
        legend: charts.legend(width, names),
        xAxis: {
          type: 'value',
          max: shares ? 1 : null,
          axisLabel: { color: t.muted, formatter: shares ? units.percent : units.tick, hideOverlap: true },
          splitLine: { lineStyle: { color: t.grid } },
        },
        yAxis: charts.categoryAxis(titles, { inverse: true, axisLabel: { interval: 0, width: width < 500 ? 120 : 220, overflow: 'truncate' } }),
        tooltip: {
          trigger: 'axis',
          axisPointer: { type: 'shadow' },
          formatter: items => {
            const b = bars[items[0].dataIndex];
            return charts.tip(b.name, [
              ...b.steps.map(s => `${s.name} ${units.time(s.ns)}${s.how ? `: ${s.how}` : ''}`),
              `p50 ${units.time(b.cell.p50_ns)}`,
            ]);
          },
        },
        series: [
          ...names.map(name => ({
            type: 'bar',
            name,
            stack: 'steps',
            barMaxWidth: 18,
            itemStyle: { color: name === 'not explained' ? t.line : charts.hue(rank(name)) },
            data: bars.map((b, i) => (b.steps.find(s => s.name === name)?.ns ?? 0) * scale(i)),
          })),
          charts.whiskers('interval', t.text, shares ? [] : bars.flatMap((b, i) => (b.cell.p50_ci ? [[i, ...b.cell.p50_ci]] : [])), true),
        ],
      };
    },
  });
}
