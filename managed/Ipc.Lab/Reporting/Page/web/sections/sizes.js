// How each transport grows with the message, and which codec carries objects of one size fastest.
section(
  'sizes',
  'Transports by message size',
  body => {
    const cells = question.cells(
      c => c.scenario === 'call' && c.pair === question.pair && c.count == null && groupOf(c) == null && sizeOf(c.workload) > 0,
    );
    const ofCodec = codec => cells.filter(c => c.codec === codec);
    // A line needs two sizes; what was measured at one only is compared at that size.
    const codecs = data.codecs.map(c => c.id).filter(codec => new Set(ofCodec(codec).map(c => c.workload)).size > 1);
    const objects = cells.filter(c => data.codecOf.get(c.codec)?.objects);
    const workloads = [...new Set(objects.map(c => c.workload))]
      .filter(
        w =>
          new Set(objects.filter(c => c.workload === w).map(c => c.codec)).size > 1 ||
          objects.some(c => c.workload === w && !codecs.includes(c.codec)),
      )
      .sort((a, b) => sizeOf(a) - sizeOf(b));
    const lines = codecs.map(() => element('figure', null, element('figcaption')));
    const ranks = workloads.map(w =>
      element(
        'figure',
        null,
        element(
          'figcaption',
          null,
          `Objects, ${sizeName(w)}`,
          element('small', null, 'transport and codec; median time of a call and its interval, shorter is better'),
        ),
      ),
    );
    body.replaceChildren(
      element(
        'p',
        { className: 'about' },
        `${pairName(question.pair)}. Calls; axes are logarithmic; whiskers are intervals of the median. Bytes are those of request and reply together.`,
      ),
      cells.length === 0
        ? element('p', { className: 'nothing' }, 'No calls were measured for this pair over these transports.')
        : element('div', { className: 'two' }, lines, ranks),
    );
    codecs.forEach((codec, i) => drawSizes(lines[i], codec, ofCodec(codec)));
    workloads.forEach((w, i) =>
      drawRanking(
        ranks[i],
        objects.filter(c => c.workload === w),
        c => `${c.transport} + ${c.codec}`,
        `Median time of a call by transport and codec, ${sizeName(w)}, ${pairName(question.pair)}`,
      ),
    );
  },
  'Message size',
);

function drawSizes(figure, codec, cells) {
  const names = data.transportNames.filter(t => cells.some(c => c.transport === t));
  const lines = names.map(name => cells.filter(c => c.transport === name).sort((a, b) => sizeOf(a.workload) - sizeOf(b.workload)));
  figure
    .querySelector('figcaption')
    .replaceChildren(codec === 'raw' ? 'Bytes as they are' : `Objects by ${codec}`, element('small', null, 'median time of a call'));
  charts.draw(figure, {
    height: 400,
    label: `Median time of a call by message size, ${codec}, ${pairName(question.pair)}`,
    rows: () => [
      ['transport', 'message', 'p50', 'interval'],
      ...lines.flat().map(c => [c.transport, sizeName(c.workload), units.time(c.p50_ns), units.interval(c.p50_ci, units.time)]),
    ],
    option: width =>
      lineChart(
        width,
        names,
        lines,
        c => sizeOf(c.workload),
        charts.logAxis(
          '',
          units.bytesTick,
          cells.map(c => sizeOf(c.workload)),
        ),
        c => c.p50_ns,
        c => c.p50_ci,
        units.tick,
        c => charts.tip(`${c.transport}, ${sizeName(c.workload)}`, charts.describe(c)),
      ),
  });
}

/** Lines of cells, one per name, with whiskers, on a logarithmic axis of figures. */
function lineChart(width, names, lines, x, xAxis, y, range, format, tipOf, lookOf = charts.look) {
  const figures = lines.flat().flatMap(c => [y(c), ...(range(c) ?? [])]);
  return {
    grid: { left: 8, right: 18, top: charts.legendHeight(width, names) + 8, bottom: 12, containLabel: true },
    legend: charts.legend(width, names),
    xAxis,
    yAxis: charts.logAxis('', format, figures),
    tooltip: { trigger: 'item', formatter: item => tipOf(lines[names.indexOf(item.seriesName)][item.dataIndex]) },
    series: names.flatMap((name, i) => {
      const look = lookOf(name);
      return [
        {
          type: 'line',
          name,
          data: lines[i].map(c => [x(c), y(c)]),
          symbol: look.symbol,
          symbolSize: 8,
          lineStyle: { width: 2, color: look.color },
          itemStyle: { color: look.color },
          emphasis: { focus: 'series' },
        },
        charts.whiskers(
          name,
          look.color,
          lines[i].flatMap(c => (range(c) ? [[x(c), ...range(c)]] : [])),
        ),
      ];
    }),
  };
}
