// Calls in flight: how the rate grows, and what a call waits for it.
section('inflight', 'Calls in flight', body => {
  body.parentElement.hidden = !data.sound.some(c => inFlightOf(c) > 0);
  const cells = question.cells(c => inFlightOf(c) > 0 && c.pair === question.pair && c.count == null);
  const needs = [...new Set(cells.map(c => `${c.workload} ${c.codec}`))].map(need => cells.filter(c => `${c.workload} ${c.codec}` === need));
  const figures = needs.map(() => element('figure', null, element('figcaption')));
  body.replaceChildren(
    element(
      'p',
      { className: 'about' },
      `${pairName(question.pair)}. One client thread keeps so many calls in flight on one channel: ` +
      `it submits until there are as many, then waits for the next reply. ` +
      `Each is timed from its submission; the rate is by wall time, checks included.`,
    ),
    cells.length === 0
      ? element('p', { className: 'nothing' }, 'No calls in flight were measured for this pair over these transports.')
      : element('div', { className: 'two' }, figures),
  );
  needs.forEach((points, i) => drawInFlight(figures[i], points));
});

function inFlightOf(cell) {
  return data.scenarioOf.get(cell.scenario)?.in_flight ?? 0;
}

function drawInFlight(figure, cells) {
  const names = data.transportNames.filter(t => cells.some(c => c.transport === t));
  const lines = names.map(name => cells.filter(c => c.transport === name).sort((a, b) => inFlightOf(a) - inFlightOf(b)));
  const gain = c => {
    const single = cells.find(other => other.transport === c.transport && inFlightOf(other) === 1);
    // Launches of two placements have no ratio.
    return single?.ops_per_s && single.placement === c.placement ? c.ops_per_s / single.ops_per_s : null;
  };
  const codec = cells[0].codec === 'raw' ? '' : `, objects by ${cells[0].codec}`;
  figure
    .querySelector('figcaption')
    .replaceChildren(`${sizeName(cells[0].workload, false)}${codec}`, element('small', null, 'calls a second by calls in flight; more is better'));
  charts.draw(figure, {
    height: 360,
    label: `Calls a second by calls in flight, ${cells[0].workload}, ${cells[0].codec}, ${pairName(question.pair)}`,
    rows: () => [
      ['transport', 'in flight', 'calls/s', 'interval', 'gain over one', 'p50', 'p99', 'CPU server', 'CPU client'],
      ...lines
        .flat()
        .map(c => [
          c.transport,
          `${inFlightOf(c)}`,
          units.rate(c.ops_per_s),
          units.interval(c.ops_per_s_ci, units.rate),
          units.ratio(gain(c)),
          units.time(c.p50_ns),
          units.time(c.p99_ns),
          units.time(c.cpu_ns_per_op?.server),
          units.time(c.cpu_ns_per_op?.client),
        ]),
    ],
    option(width) {
      const steps = [...new Set(cells.map(inFlightOf))];
      const axis = charts.logAxis('', v => `${v}`, steps, {
        axisLabel: { color: charts.theme().muted, customValues: steps },
        axisTick: { customValues: steps },
      });
      return lineChart(
        width,
        names,
        lines,
        inFlightOf,
        axis,
        c => c.ops_per_s,
        c => c.ops_per_s_ci,
        units.rateTick,
        c =>
          charts.tip(`${c.transport}, ${inFlightOf(c)} in flight`, [
            `${units.rate(c.ops_per_s)} calls, ${units.ratio(gain(c))} the rate of one at a time`,
            ...charts.describe(c),
          ]),
      );
    },
  });
}
