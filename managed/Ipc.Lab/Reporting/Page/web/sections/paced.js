// So many calls a second: what waiting awake buys and what it costs.
section(
  'paced',
  'Calls at a given rate: latency against processor time',
  body => {
    body.parentElement.hidden = !data.sound.some(c => c.scenario === 'paced');
    const cells = question.cells(c => c.scenario === 'paced' && c.pair === question.pair && c.count == null);
    const [late, cpu] = ['latency', 'cpu'].map(() => element('figure', null, element('figcaption')));
    body.replaceChildren(
      element(
        'p',
        { className: 'about' },
        `${pairName(question.pair)}. Each call is timed from when it was due, so that what holds one up is charged to all that come due meanwhile. ` +
        `Processor time is of both processes, without what the client spends on waiting for the next call.`,
      ),
      cells.length === 0
        ? element('p', { className: 'nothing' }, 'No paced calls were measured for this pair over these transports.')
        : element('div', { className: 'two' }, late, cpu),
    );
    if (cells.length === 0) return;
    const rate = c => data.workloadOf.get(c.workload).rate;
    const names = data.transportNames.filter(t => cells.some(c => c.transport === t));
    const lines = names.map(name => cells.filter(c => c.transport === name).sort((a, b) => rate(a) - rate(b)));
    // Processors kept busy: time of a call by the time from one to the next.
    const busy = c => (c.cpu == null ? null : (c.cpu * rate(c)) / 1e9);
    late.querySelector('figcaption').replaceChildren('Latency by rate', element('small', null, 'median, by calls a second'));
    charts.draw(late, {
      height: 430,
      label: `Median latency by rate, ${pairName(question.pair)}`,
      rows: () => [
        ['transport', 'calls/s', 'p50', 'interval', 'p99', 'max', 'CPU server', 'CPU client', 'processors busy'],
        ...lines
          .flat()
          .map(c => [
            c.transport,
            units.count(rate(c)),
            units.time(c.p50_ns),
            units.interval(c.p50_ci, units.time),
            units.time(c.p99_ns),
            units.time(c.max_ns),
            units.time(c.cpu_ns_per_op?.server),
            units.time(c.cpu_ns_per_op?.client),
            units.percent(busy(c)),
          ]),
      ],
      option(width) {
        const steps = [...new Set(cells.map(rate))];
        const axis = charts.logAxis('', units.rateTick, steps, {
          axisLabel: { color: charts.theme().muted, customValues: steps, formatter: units.rateTick },
          axisTick: { customValues: steps },
        });
        return lineChart(
          width,
          names,
          lines,
          rate,
          axis,
          c => c.p50_ns,
          c => c.p50_ci,
          units.tick,
          c => charts.tip(`${c.transport}, ${units.rate(rate(c))}`, charts.describe(c)),
        );
      },
    });
    const spent = lines.map(line => line.filter(c => busy(c) > 0));
    cpu
      .querySelector('figcaption')
      .replaceChildren(
        'Latency against processors kept busy',
        element('small', null, 'a point for each rate, the slowest first; towards the lower left is better'),
      );
    charts.draw(cpu, {
      height: 430,
      label: `Median latency against processor time, ${pairName(question.pair)}`,
      nothing: spent.flat().length === 0 ? 'No processor time was measured with these cells.' : null,
      rows: () => [
        ['transport', 'calls/s', 'processors busy', 'p50', 'interval'],
        ...spent
          .flat()
          .map(c => [c.transport, units.count(rate(c)), units.percent(busy(c)), units.time(c.p50_ns), units.interval(c.p50_ci, units.time)]),
      ],
      option(width) {
        const percent = v => `${+(v * 100).toPrecision(2)} %`;
        return lineChart(
          width,
          names,
          spent,
          busy,
          charts.logAxis('', percent, spent.flat().map(busy)),
          c => c.p50_ns,
          c => c.p50_ci,
          units.tick,
          c => charts.tip(`${c.transport}, ${units.rate(rate(c))}`, [`${units.percent(busy(c))} of a processor`, ...charts.describe(c)]),
        );
      },
    });
  },
  'Rates',
);
