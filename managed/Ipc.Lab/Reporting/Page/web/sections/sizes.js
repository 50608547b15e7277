// How each transport grows with the message.
section('sizes', 'Transports by message size', body => {
  const codecs = [...new Set(question.cells(c => c.scenario === 'call' && c.pair === question.pair && c.count == null && groupOf(c) == null).map(c => c.codec))];
  const figures = codecs.map(() => element('figure', null, element('figcaption')));
  body.replaceChildren(
    element('p', { className: 'about' }, `${pairName(question.pair)}. Calls; both axes are logarithmic; whiskers are intervals of the median. Bytes are those of request and reply together.`),
    codecs.length === 0 ? element('p', { className: 'nothing' }, 'No calls were measured for this pair over these transports.') : element('div', { className: 'two' }, figures));
  codecs.forEach((codec, i) => drawSizes(figures[i], codec));
});

function drawSizes(figure, codec) {
  const cells = question.cells(c => c.scenario === 'call' && c.pair === question.pair && c.codec === codec && c.count == null && groupOf(c) == null && sizeOf(c.workload) > 0);
  const names = data.transportNames.filter(t => cells.some(c => c.transport === t));
  const lines = names.map(name => cells.filter(c => c.transport === name).sort((a, b) => sizeOf(a.workload) - sizeOf(b.workload)));
  figure.querySelector('figcaption').replaceChildren(codec === 'raw' ? 'Bytes as they are' : `Objects by ${codec}`, element('small', null, 'median time of a call'));
  charts.draw(figure, {
    height: 430, label: `Median time of a call by message size, ${codec}, ${pairName(question.pair)}`,
    nothing: cells.length === 0 ? 'Not measured.' : null,
    rows: () => [['transport', 'message', 'p50', 'interval'], ...lines.flat().map(c => [c.transport, sizeName(c.workload), units.time(c.p50_ns), units.interval(c.p50_ci, units.time)])],
    option: width => lineChart(width, names, lines, c => sizeOf(c.workload), charts.logAxis('', units.bytesTick, cells.map(c => sizeOf(c.workload))), c => c.p50_ns, c => c.p50_ci, units.tick,
      c => charts.tip(`${c.transport}, ${sizeName(c.workload)}`, charts.describe(c))),
  });
}

/** Lines of cells, one per name, with whiskers, on a logarithmic axis of figures. */
function lineChart(width, names, lines, x, xAxis, y, range, format, tipOf, lookOf = charts.look) {
  const figures = lines.flat().flatMap(c => [y(c), ...(range(c) ?? [])]);
  return {
    grid: { left: 8, right: 18, top: charts.legendHeight(width, names) + 8, bottom: 12, containLabel: true },
    legend: charts.legend(width, names),
    xAxis, yAxis: charts.logAxis('', format, figures),
    tooltip: { trigger: 'item', formatter: item => tipOf(lines[names.indexOf(item.seriesName)][item.dataIndex]) },
    series: names.flatMap((name, i) => {
      const look = lookOf(name);
      return [
        { type: 'line', name, data: lines[i].map(c => [x(c), y(c)]), symbol: look.symbol, symbolSize: 8, lineStyle: { width: 2, color: look.color }, itemStyle: { color: look.color }, emphasis: { focus: 'series' } },
        charts.whiskers(name, look.color, lines[i].flatMap(c => (range(c) ? [[x(c), ...range(c)]] : []))),
      ];
    }),
  };
}
