// Data that no cache holds: how much longer the same calls take.
section(
  'caches',
  'What caches give',
  body => {
    const isOfOwn = c => c.scenario in ordersOfData;
    body.parentElement.hidden = !data.sound.some(isOfOwn);
    const cells = question.cells(c => (isOfOwn(c) || c.scenario === 'call') && c.codec === 'raw' && c.pair === question.pair && c.count == null);
    const points = cells.filter(isOfOwn).flatMap(own => {
      const same = cells.find(c => c.scenario === 'call' && c.transport === own.transport && c.workload === own.workload);
      // Launches of two placements have no ratio.
      return same?.p50_ns && same.placement === own.placement ? [{ own, same }] : [];
    });
    const figure = element(
      'figure',
      null,
      element(
        'figcaption',
        null,
        'Time beside calls with the same data',
        element('small', null, 'ratio of medians, by the bytes of request and reply; 1 is no difference'),
      ),
    );
    body.replaceChildren(
      element(
        'p',
        { className: 'about' },
        `${pairName(question.pair)}. A loop of calls that sends the same bytes every time keeps them in the processor's caches. ` +
          `Here each request and each reply is another one of 64 MiB on either side, and what arrives is copied to a place of its own: ` +
          `taken in random order, as a program that looks things up would, or in the order of memory, which the processor sees coming.`,
      ),
      points.length === 0 ? element('p', { className: 'nothing' }, 'No such calls were measured for this pair over these transports.') : figure,
    );
    if (points.length > 0) drawCaches(figure, points);
  },
  'Caches',
);

const ordersOfData = { shuffled: 'random order', 'in-order': 'order of memory' };

function drawCaches(figure, points) {
  const bytes = ({ own }) => data.workloadOf.get(own.workload).request_bytes + data.workloadOf.get(own.workload).reply_bytes;
  const nameOf = ({ own }) => `${own.transport}, ${ordersOfData[own.scenario]}`;
  const ratio = ({ own, same }) => own.p50_ns / same.p50_ns;
  const range = ({ own, same }) => (own.p50_ci && same.p50_ci ? [own.p50_ci[0] / same.p50_ci[1], own.p50_ci[1] / same.p50_ci[0]] : null);
  const rank = ({ own }) => data.transportNames.indexOf(own.transport) * 2 + (own.scenario === 'shuffled' ? 0 : 1);
  const names = [...new Set([...points].sort((a, b) => rank(a) - rank(b)).map(nameOf))];
  const lines = names.map(name => points.filter(p => nameOf(p) === name).sort((a, b) => bytes(a) - bytes(b)));
  const lookOf = name => {
    const { own } = points.find(p => nameOf(p) === name);
    const look = charts.look(own.transport);
    if (own.scenario === 'shuffled') return look;
    return { ...look, symbol: look.symbol.startsWith('empty') ? 'pin' : `empty${look.symbol[0].toUpperCase()}${look.symbol.slice(1)}` };
  };
  charts.draw(figure, {
    height: 400,
    label: `Time of calls with data of their own beside calls with the same data, ${pairName(question.pair)}`,
    rows: () => [
      ['transport', 'data in', 'message', 'same data', 'data of its own', 'ratio', 'between'],
      ...lines
        .flat()
        .map(p => [
          p.own.transport,
          ordersOfData[p.own.scenario],
          sizeName(p.own.workload),
          units.time(p.same.p50_ns),
          units.time(p.own.p50_ns),
          units.ratio(ratio(p)),
          units.interval(range(p), units.ratio),
        ]),
    ],
    option(width) {
      return lineChart(
        width,
        names,
        lines,
        bytes,
        charts.logAxis('', units.bytesTick, points.map(bytes)),
        ratio,
        range,
        v => `${v}`,
        p =>
          charts.tip(`${nameOf(p)}, ${sizeName(p.own.workload)}`, [
            `${units.ratio(ratio(p))} times as long as with the same data`,
            ...charts.describe(p.own),
          ]),
        lookOf,
      );
    },
  });
}
