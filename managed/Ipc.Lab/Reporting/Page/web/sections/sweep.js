// Every size in powers of two, with what the system itself needs for it.
section(
  'sweep',
  'Every size, and the floors beneath',
  body => {
    const cells = question.cells(c => groupOf(c) === 'sweep' && c.pair === question.pair && c.count == null);
    body.parentElement.hidden = !data.sound.some(c => groupOf(c) === 'sweep');
    const [times, ratios] = ['time', 'ratio'].map(() => element('figure', null, element('figcaption')));
    body.replaceChildren(
      element(
        'p',
        { className: 'about' },
        `${pairName(question.pair)}. Calls whose request and reply are both as long as the axis says; all axes are logarithmic. ` +
        `Broken lines are floors, measured around the launches of the cells they bound.`,
      ),
      cells.length === 0
        ? element('p', { className: 'nothing' }, 'No sweep was measured for this pair over these transports.')
        : element('div', { className: 'two' }, times, ratios),
    );
    if (cells.length === 0) return;
    const bytes = c => data.workloadOf.get(c.workload).request_bytes;
    const bySize = list => list.sort((a, b) => bytes(a) - bytes(b));
    const names = data.transportNames.filter(t => cells.some(c => c.transport === t));
    const lines = names.map(name => bySize(cells.filter(c => c.transport === name)));
    const floors = [...new Set(cells.filter(c => c.floor_ns != null).map(c => c.floor))];
    const floorLines = floors.map(floor => {
      const bySizes = new Map();
      for (const c of cells) if (c.floor === floor && c.floor_ns != null) bySizes.set(bytes(c), [...(bySizes.get(bytes(c)) ?? []), c.floor_ns]);
      return [...bySizes].sort((a, b) => a[0] - b[0]).map(([size, all]) => [size, Math.min(...all)]);
    });
    const floorNames = floors.map(floor => `floor: ${floor}`);
    const axis = () => charts.logAxis('', units.bytesTick, cells.map(bytes));
    times.querySelector('figcaption').replaceChildren('Time of a call', element('small', null, 'median, by the bytes of request and of reply'));
    charts.draw(times, {
      height: 470,
      label: `Median time of a call by size, ${pairName(question.pair)}`,
      rows: () => [
        ['transport', 'bytes each way', 'p50', 'interval', 'floor', 'times the floor'],
        ...lines
          .flat()
          .map(c => [
            c.transport,
            units.count(bytes(c)),
            units.time(c.p50_ns),
            units.interval(c.p50_ci, units.time),
            c.floor_ns == null ? units.unknown : `${c.floor} ${units.time(c.floor_ns)}`,
            units.ratio(c.floor_ratio),
          ]),
      ],
      option(width) {
        const all = [...names, ...floorNames];
        const option = lineChart(
          width,
          names,
          lines,
          bytes,
          axis(),
          c => c.p50_ns,
          c => c.p50_ci,
          units.tick,
          c => charts.tip(`${c.transport}, ${sizeName(c.workload)}`, charts.describe(c)),
        );
        const figures = [...cells.flatMap(c => [c.p50_ns, ...(c.p50_ci ?? [])]), ...floorLines.flat().map(point => point[1])];
        return {
          ...option,
          grid: { ...option.grid, top: charts.legendHeight(width, all) + 8 },
          legend: charts.legend(width, all),
          yAxis: charts.logAxis('', units.tick, figures),
          series: [
            ...option.series,
            ...floorLines.map((points, i) => ({
              type: 'line',
              name: floorNames[i],
              data: points,
              symbol: 'none',
              silent: true,
              lineStyle: { width: 1.5, type: 'dashed', color: charts.theme().muted, opacity: 1 - i / 4 },
              itemStyle: { color: charts.theme().muted },
            })),
          ],
        };
      },
    });
    ratios.querySelector('figcaption').replaceChildren('Times the floor', element('small', null, 'what is ours of it: 1 would be nothing'));
    const held = lines.map(line => line.filter(c => c.floor_ratio != null));
    charts.draw(ratios, {
      height: 470,
      label: `Time of a call by its floor, by size, ${pairName(question.pair)}`,
      nothing: held.flat().length === 0 ? 'No floors were measured with these cells.' : null,
      rows: () => [
        ['transport', 'bytes each way', 'times the floor', 'interval'],
        ...held.flat().map(c => [c.transport, units.count(bytes(c)), units.ratio(c.floor_ratio), units.interval(c.floor_ratio_ci, units.ratio)]),
      ],
      option: width =>
        lineChart(
          width,
          names,
          held,
          bytes,
          axis(),
          c => c.floor_ratio,
          c => c.floor_ratio_ci,
          v => `${+v.toPrecision(2)}\u00a0×`,
          c =>
            charts.tip(`${c.transport}, ${sizeName(c.workload)}`, [
              `${units.ratio(c.floor_ratio)} its floor (${c.floor}, ${units.time(c.floor_ns)})`,
              ...charts.describe(c),
            ]),
        ),
    });
  },
  'Every size',
);
