// Small objects collected into buckets: what going together gains, and where it gains no more.
section(
  'buckets',
  'Objects in buckets',
  body => {
    body.parentElement.hidden = !data.sound.some(c => c.scenario === 'batch');
    const curves = bucketCurves(question.cells(c => c.scenario === 'batch' && c.pair === question.pair && c.count == null));
    const codecs = data.codecs.filter(codec => curves.some(curve => curve.codec === codec.id));
    const figures = codecs.map(() => element('figure', null, element('figcaption')));
    body.replaceChildren(
      element(
        'p',
        { className: 'about' },
        `${pairName(question.pair)}. Requests of 0.1 kB and replies of 1 kB, so many of them encoded as one collection, sent by one call, ` +
        `split, answered, collected and split again; all of that is inside the time. Figures are of one object.`,
      ),
      curves.length === 0
        ? element('p', { className: 'nothing' }, 'No buckets were measured for this pair over these transports.')
        : bestBuckets(curves),
      curves.length === 0 ? null : element('div', { className: 'two' }, figures),
    );
    codecs.forEach((codec, i) =>
      drawBuckets(
        figures[i],
        codec.id,
        curves.filter(curve => curve.codec === codec.id),
      ),
    );
  },
  'Buckets',
);

function bucketOf(cell) {
  return data.workloadOf.get(cell.workload).bucket;
}

/** One curve for each transport and codec that has two buckets at least, with its best by the rule of all answers. */
function bucketCurves(cells) {
  const curves = new Map();
  for (const cell of cells) {
    const key = `${cell.transport} ${cell.codec}`;
    if (!curves.has(key)) curves.set(key, { transport: cell.transport, codec: cell.codec, points: [] });
    curves.get(key).points.push(cell);
  }
  return [...curves.values()]
    .filter(curve => curve.points.length > 1)
    .map(curve => {
      const points = curve.points.sort((a, b) => bucketOf(a) - bucketOf(b));
      const verdict = decide(points);
      const single = points.find(c => bucketOf(c) === 1);
      const best = verdict.best;
      const gain = single && best !== single ? single.p50_ns / best.p50_ns : null;
      const range = gain != null && single.p50_ci && best.p50_ci ? [single.p50_ci[0] / best.p50_ci[1], single.p50_ci[1] / best.p50_ci[0]] : null;
      return { ...curve, points, verdict, single, best, gain, range };
    });
}

// "50 = 100 = 500": between those there is no difference. "50?": launches are too few to tell.
function bestName(curve) {
  if (!curve.verdict.certain) return `${bucketOf(curve.best)}?`;
  return curve.verdict.tied
    .map(bucketOf)
    .sort((a, b) => a - b)
    .join(' = ');
}

function bestBuckets(curves) {
  const row = curve => [
    curve.transport,
    curve.codec,
    units.time(curve.single?.p50_ns),
    bestName(curve),
    units.time(curve.best.p50_ns),
    units.rate(1e9 / curve.best.p50_ns),
    units.ratio(curve.gain),
    units.interval(curve.range, units.ratio),
  ];
  return element(
    'div',
    { className: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'The best bucket of each transport and codec' },
    element(
      'table',
      null,
      element(
        'caption',
        null,
        'The best bucket; where several are named there is no difference between them, and a question mark says that launches are too few to tell.',
      ),
      element(
        'thead',
        null,
        element(
          'tr',
          null,
          ['transport', 'codec', 'one by one', 'best bucket', 'an object there', 'objects/s', 'gain', 'between'].map(title =>
            element('th', { scope: 'col' }, title),
          ),
        ),
      ),
      element(
        'tbody',
        null,
        curves.map(curve =>
          element(
            'tr',
            null,
            row(curve).map(value => element('td', null, value)),
          ),
        ),
      ),
    ),
  );
}

function drawBuckets(figure, codec, curves) {
  const names = curves.map(curve => curve.transport);
  const lines = curves.map(curve => curve.points);
  const rate = c => 1e9 / c.p50_ns;
  const range = c => (c.p50_ci ? [1e9 / c.p50_ci[1], 1e9 / c.p50_ci[0]] : null);
  figure
    .querySelector('figcaption')
    .replaceChildren(
      codec === 'raw' ? 'Bytes as they are' : `Objects by ${codec}`,
      element('small', null, 'objects a second (by the median time) by objects in a bucket; more is better'),
    );
  charts.draw(figure, {
    height: 360,
    label: `Objects a second by bucket, ${codec}, ${pairName(question.pair)}`,
    rows: () => [
      ['transport', 'bucket', 'time of an object', 'interval', 'objects/s'],
      ...lines.flat().map(c => [c.transport, `${bucketOf(c)}`, units.time(c.p50_ns), units.interval(c.p50_ci, units.time), units.rate(rate(c))]),
    ],
    option(width) {
      const steps = [...new Set(lines.flat().map(bucketOf))];
      const axis = charts.logAxis('', v => `${v}`, steps, {
        axisLabel: { color: charts.theme().muted, customValues: steps },
        axisTick: { customValues: steps },
      });
      return lineChart(width, names, lines, bucketOf, axis, rate, range, units.rateTick, c =>
        charts.tip(`${c.transport}, ${bucketOf(c)} together`, [`${units.rate(rate(c))} objects`, ...charts.describe(c)]),
      );
    },
  });
}
