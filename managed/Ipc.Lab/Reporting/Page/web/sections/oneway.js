// One-way messages: how many a receiver takes, by size and by how many go together.
section(
  'oneway',
  'One-way messages and batches',
  body => {
    const cells = question.cells(c => c.pair === question.pair && isStream(c));
    const scenarios = data.scenarios.filter(s => cells.some(c => c.scenario === s.id));
    const figures = scenarios.map(s =>
      element(
        'figure',
        null,
        element(
          'figcaption',
          null,
          capital(scenarioName(s.id)),
          element('small', null, 'messages a second at the receiver, by message size; more is better'),
        ),
      ),
    );
    const batch = element(
      'figure',
      null,
      element('figcaption', null, 'What batches gain', element('small', null, 'messages a second, sent one by one and together')),
    );
    const batches = batchesOf(cells);
    body.replaceChildren(
      element(
        'p',
        { className: 'about' },
        `${pairName(question.pair)}. Timed at the receiver, every message checked there; the interval is of the rate.`,
      ),
      scenarios.length === 0
        ? element('p', { className: 'nothing' }, 'No one-way messages were measured for this pair over these transports.')
        : element('div', { className: 'two' }, figures, batches.length ? batch : null),
    );
    scenarios.forEach((s, i) =>
      drawRates(
        figures[i],
        cells.filter(c => c.scenario === s.id),
        scenarioName(s.id),
      ),
    );
    if (batches.length) drawBatches(batch, batches);
  },
  'One way',
);

function drawRates(figure, cells, label) {
  const names = data.transportNames.filter(t => cells.some(c => c.transport === t));
  const bytes = c => data.workloadOf.get(c.workload)?.request_bytes ?? 1;
  const lines = names.map(name => cells.filter(c => c.transport === name && c.ops_per_s != null).sort((a, b) => bytes(a) - bytes(b)));
  charts.draw(figure, {
    height: 340,
    label: `Messages a second by size, ${label}`,
    rows: () => [
      ['transport', 'message', 'messages/s', 'interval', 'time of one'],
      ...lines
        .flat()
        .map(c => [
          c.transport,
          sizeName(c.workload, true),
          units.rate(c.ops_per_s),
          units.interval(c.ops_per_s_ci, units.rate),
          units.time(c.p50_ns),
        ]),
    ],
    option: width =>
      lineChart(
        width,
        names,
        lines,
        bytes,
        charts.logAxis('', units.bytesTick, cells.map(bytes)),
        c => c.ops_per_s,
        c => c.ops_per_s_ci,
        units.rateTick,
        c =>
          charts.tip(`${c.transport}, ${sizeName(c.workload, true)}`, [
            `${units.rate(c.ops_per_s)}`,
            `interval ${units.interval(c.ops_per_s_ci, units.rate)}`,
            ...charts.describe(c),
          ]),
      ),
  });
}

// One line for each transport and size that was measured both one by one and in batches.
function batchesOf(cells) {
  const lines = new Map();
  for (const cell of cells) {
    const scenario = data.scenarioOf.get(cell.scenario);
    if (scenario.clients > 1 || scenario.receiver !== 'server') continue;
    const key = `${cell.transport}, ${sizeName(cell.workload, true)}`;
    if (!lines.has(key)) lines.set(key, []);
    lines.get(key).push({ cell, key, batch: scenario.batch || 1, rate: cell.ops_per_s, range: cell.ops_per_s_ci });
  }
  return [...lines.values()].filter(points => new Set(points.map(p => p.batch)).size > 1).map(points => points.sort((a, b) => a.batch - b.batch));
}

function drawBatches(figure, lines) {
  const names = lines.map(points => points[0].key);
  charts.draw(figure, {
    height: 340,
    label: 'Messages a second by messages in a batch',
    rows: () => [
      ['', 'messages in a batch', 'messages/s', 'interval'],
      ...lines.flat().map(p => [p.key, `${p.batch}`, units.rate(p.rate), units.interval(p.range, units.rate)]),
    ],
    option(width) {
      const steps = [...new Set(lines.flat().map(p => p.batch))];
      const axis = charts.logAxis('', v => `${v}`, steps, {
        axisLabel: { color: charts.theme().muted, customValues: steps },
        axisTick: { customValues: steps },
      });
      return lineChart(
        width,
        names,
        lines,
        p => p.batch,
        axis,
        p => p.rate,
        p => p.range,
        units.rateTick,
        p => charts.tip(`${p.key}, ${p.batch} to a batch`, [units.rate(p.rate), `interval ${units.interval(p.range, units.rate)}`]),
        name => ({ ...charts.look(name.split(',')[0]), ...(names.length <= 12 ? { color: charts.hue(names.indexOf(name)) } : {}) }),
      );
    },
  });
}
