// Speed against the processor time it takes: what spins is fast and dear.
section(
  'cost',
  'Speed against processor time',
  body => {
    const need = question.need;
    const cells = question.cells(c => c.need === need?.key && c.cpu != null && c.cpu > 0);
    const figure = element(
      'figure',
      null,
      element(
        'figcaption',
        null,
        need ? needName(need) : '',
        element('small', null, 'median time (p50) upwards; every pair; towards the lower left is better'),
      ),
    );
    body.replaceChildren(
      element(
        'p',
        { className: 'about' },
        'Processor time of both processes for one operation, against the median time of the operation. ' +
        'A sleeping process costs none, a spinning one as much as it waits.',
      ),
      figure,
    );
    const names = data.transportNames.filter(t => cells.some(c => c.transport === t));
    const lines = names.map(name => cells.filter(c => c.transport === name));
    charts.draw(figure, {
      height: 400,
      label: `Median time against processor time${need ? ` for ${needName(need)}` : ''}`,
      nothing: cells.length === 0 ? 'No processor time was measured for this message over these transports.' : null,
      rows: () => [
        ['transport', 'pair', 'CPU, both ends', 'p50', 'interval'],
        ...cells.map(c => [c.transport, pairName(c.pair), units.time(c.cpu), units.time(c.p50_ns), units.interval(c.p50_ci, units.time)]),
      ],
      option(width) {
        const t = charts.theme();
        return {
          grid: { left: 8, right: 18, top: charts.legendHeight(width, names) + 8, bottom: 34, containLabel: true },
          legend: charts.legend(width, names),
          xAxis: charts.logAxis(
            'processor time of one operation, both ends',
            units.tick,
            cells.map(c => c.cpu),
            { nameGap: 28, nameTextStyle: { color: t.muted } },
          ),
          yAxis: charts.logAxis(
            '',
            units.tick,
            cells.flatMap(c => [c.p50_ns, ...(c.p50_ci ?? [])]),
          ),
          tooltip: {
            trigger: 'item',
            formatter: item => {
              const c = lines[names.indexOf(item.seriesName)][item.dataIndex];
              return charts.tip(`${c.transport}, ${pairName(c.pair)}`, charts.describe(c));
            },
          },
          series: names.flatMap((name, i) => {
            const look = charts.look(name);
            return [
              {
                type: 'scatter',
                name,
                symbol: look.symbol,
                symbolSize: 11,
                itemStyle: { color: look.color, opacity: 0.85 },
                data: lines[i].map(c => [c.cpu, c.p50_ns]),
              },
              charts.whiskers(
                name,
                look.color,
                lines[i].flatMap(c => (c.p50_ci ? [[c.cpu, ...c.p50_ci]] : [])),
              ),
            ];
          }),
        };
      },
    });
  },
  'Processor time',
);
