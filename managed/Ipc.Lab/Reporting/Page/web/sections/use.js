// What to use for what: the answer, before anything else.
section(
  'use',
  'What to use for what',
  (body, changed) => {
    if (changed && !changed.some(key => ['server', 'client', 'need', 'transport'].includes(key))) return;
    const rows = questions(question.pair).filter(row => row.verdict);
    const pair = question.pair.split(':');
    const about = element(
      'p',
      { className: 'about' },
      `Server in ${sideName(pair[0])}, client in ${sideName(pair[1])}. The fastest by median (p50) is named only if its interval lies clear of all others; ` +
        'where intervals overlap there is no difference, and any of those named will do. ' +
        'If it has too few launches for an interval, each of them must be faster than each of the others’.',
    );
    if (rows.length === 0) {
      body.replaceChildren(
        about,
        element('p', { className: 'nothing' }, 'Nothing was measured for this pair over these transports; choose another above.'),
      );
      return;
    }
    const figure = element('figure', { className: 'stays' }, element('figcaption', { id: 'decision-title' }));
    body.replaceChildren(glance(rows), about, element('div', { className: 'two first' }, element('div', null, allAnswers(rows)), element('div', null, figure)));
    drawDecision(figure);
  },
  'Answers',
);

const nameIn = row => cell => (row.objects ? `${cell.transport} + ${cell.codec}` : cell.transport);

/** Under which heading an answer stands. */
function groupTitle(row) {
  const name = scenarioName(row.scenario);
  if (data.workloadOf.get(row.workload)?.bucket) return row.objects ? 'Objects in buckets, figures of one' : 'Bytes in buckets, figures of one';
  if (row.scenario === 'call') return row.objects ? 'Objects there and back, with their serializer' : 'Bytes there and back';
  return row.objects ? `${capital(name)}, objects` : capital(name);
}

/** The rows that stand for all: a short and the largest call, and one of each other kind, as long as they had a choice. */
function glimpses(rows) {
  const choice = rows.filter(row => row.verdict.certain && hadChoice(row));
  const shown = [];
  for (const title of new Set(choice.map(groupTitle))) {
    const group = choice.filter(row => groupTitle(row) === title);
    // Of other kinds the message that most were measured with.
    const widest = group.reduce((most, row) => (row.cells.length > most.cells.length ? row : most));
    shown.push(...(title === 'Bytes there and back' && group.length > 1 ? [nearestTo64(group), group.at(-1)] : [widest]));
  }
  return shown.slice(0, 6);
}

/** The row whose message comes nearest to 64 bytes each way, for that one itself may have no winner. */
function nearestTo64(rows) {
  const distance = row => Math.abs(Math.log(Math.max(1, sizeOf(row.workload)) / 128));
  return rows.reduce((nearest, row) => (distance(row) < distance(nearest) ? row : nearest));
}

// Read from across a room: what wins, how long it takes, by how much.
function glance(rows) {
  const shown = glimpses(rows);
  if (shown.length === 0) return '';
  return element(
    'ul',
    { className: 'glance', 'aria-label': 'The answers at a glance' },
    shown.map(row => {
      const { best, tied, next } = row.verdict;
      const pick = element(
        'button',
        { type: 'button', title: 'Show this message in all charts', 'aria-pressed': String(isAsked(row)) },
        element('span', { className: 'what' }, groupTitle(row)),
        element('span', { className: 'size' }, sizeName(row.workload, isOneWay(best))),
        element('span', { className: 'winner' }, winners(tied.map(nameIn(row)))),
        element(
          'span',
          { className: 'by' },
          element('b', null, units.time(best.p50_ns)),
          next ? `, ${nameIn(row)(next)} takes ${times(next.p50_ns / best.p50_ns)}` : ', no difference between any',
        ),
      );
      pick.addEventListener('click', () => state.set({ need: best.need }));
      return element('li', null, pick);
    }),
  );
}

/** The first of those that win, or two where both fit on a card. */
function winners(names) {
  const shown = names.slice(0, names.slice(0, 2).join('').length <= 24 ? 2 : 1);
  return shown.join(' or ') + (names.length > shown.length ? ' …' : '');
}

/** "1.4 × as long", with no more digits than anybody reads. */
function times(ratio) {
  return `${ratio < 9.95 ? units.ratio(ratio) : `${Math.round(ratio)}\u00a0×`} as long`;
}

/** First what there was a choice for: nobody looks for the winner of one. */
function allAnswers(rows) {
  const [chosen, alone] = [rows.filter(hadChoice), rows.filter(row => !hadChoice(row))];
  if (chosen.length === 0 || alone.length === 0) return [answers(rows)];
  const more = element(
    'details',
    { className: 'data', open: alone.some(isAsked) },
    element('summary', null, `${alone.length === 1 ? 'One more message was' : `${alone.length} more messages were`} measured over one transport only`),
    answers(alone),
  );
  return [answers(chosen), more];
}

function hadChoice(row) {
  return row.cells.length > 1;
}

/** Whether this is the message that all charts show. */
function isAsked(row) {
  return row.cells.some(cell => cell.need === question.need?.key);
}

function answers(rows) {
  const bodyRows = [];
  let group = null;
  for (const row of rows) {
    if (groupTitle(row) !== group) {
      group = groupTitle(row);
      bodyRows.push(element('tr', null, element('th', { className: 'group', colSpan: 5, scope: 'rowgroup' }, group)));
    }
    bodyRows.push(answer(row));
  }
  const head = ['message', 'use', 'p50, interval', 'CPU, both ends', 'next best'];
  return element(
    'div',
    { className: 'scroll' },
    element(
      'table',
      { className: 'answers' },
      element('caption', { className: 'hidden' }, 'The fastest transport for each message'),
      element(
        'thead',
        null,
        element(
          'tr',
          null,
          head.map((text, i) => element('th', { scope: 'col', className: i >= 2 ? 'n' : null }, text)),
        ),
      ),
      element('tbody', null, bodyRows),
    ),
  );
}

function answer(row) {
  const { best, tied, next, mixed, certain } = row.verdict;
  const name = nameIn(row);
  const use =
    tied.length === 1
      ? element('td', { className: 'use' }, name(best), row.cells.length === 1 ? element('small', null, ' the only one measured') : null)
      : element('td', { className: 'tie' }, listed(tied.map(name)), element('small', null, certain ? ' no difference' : ' too few launches to tell'));
  if (mixed)
    use.append(
      element(
        'small',
        {
          className: 'mixed',
          title: 'The host placed the two processors nearer for some of these than for others; open the cells to see each placement',
        },
        ' not all in one placement',
      ),
    );
  const pick = element(
    'button',
    { className: 'pick', type: 'button', title: 'Show this message in all charts' },
    sizeName(row.workload, isOneWay(best)),
  );
  pick.addEventListener('click', () => state.set({ need: best.need }));
  return element(
    'tr',
    { className: isAsked(row) ? 'chosen' : null },
    element('th', { scope: 'row' }, pick),
    use,
    element('td', { className: 'n' }, units.time(best.p50_ns), best.p50_ci ? element('small', null, units.interval(best.p50_ci, units.time)) : null),
    element('td', { className: 'n cpu' }, best.cpu == null ? '' : units.time(best.cpu)),
    element('td', { className: 'n next' }, next ? [name(next), element('small', null, times(next.p50_ns / best.p50_ns))] : ''),
  );
}

function listed(names) {
  const shown = names.slice(0, 4).flatMap((name, i) => [i > 0 ? ', ' : null, element('b', null, name)]);
  return names.length > 4 ? [...shown, ` and ${names.length - 4} more`] : shown;
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

// All transports in the message asked for, the fastest on top.
function drawDecision(figure) {
  const need = question.need;
  const cells = question.cells(c => c.pair === question.pair && c.need === need?.key);
  const title = need ? needName(need) : '';
  figure
    .querySelector('figcaption')
    .replaceChildren(title, element('small', null, `${pairName(question.pair)}; median and its interval, shorter is better, logarithmic axis`));
  drawRanking(figure, cells, c => c.transport, `Median time by transport for ${title}, ${pairName(question.pair)}`);
}

/** Cells that answer one question, the fastest on top; in colour those that win. */
function drawRanking(figure, cells, nameOf, label) {
  const verdict = decide(cells);
  const ranked = verdict?.ranked ?? [];
  charts.draw(figure, {
    height: 46 + 30 * ranked.length,
    label,
    nothing: ranked.length === 0 ? 'Not measured for this pair over these transports.' : null,
    rows: () => [
      ['', 'p50', 'interval', 'p99', 'CPU, both ends'],
      ...ranked.map(c => [nameOf(c), units.time(c.p50_ns), units.interval(c.p50_ci, units.time), units.time(c.p99_ns), units.time(c.cpu)]),
    ],
    option(width) {
      const t = charts.theme();
      const winner = cell => verdict.certain && verdict.tied.includes(cell);
      const color = cell => (winner(cell) ? t.accent : t.muted);
      const figures = ranked.flatMap(c => [c.p50_ns, ...(c.p50_ci ?? [])]);
      return {
        grid: { left: 8, right: 74, top: 8, bottom: 8, containLabel: true },
        xAxis: charts.logAxis('', units.tick, figures),
        yAxis: charts.categoryAxis(ranked.map(nameOf), {
          inverse: true,
          axisLabel: { interval: 0, width: width < 500 ? 110 : 190, overflow: 'truncate' },
        }),
        tooltip: { trigger: 'item', formatter: item => charts.tip(nameOf(ranked[item.dataIndex]), charts.describe(ranked[item.dataIndex])) },
        series: [
          ...[true, false].map(won =>
            charts.whiskers(
              'interval',
              won ? t.accent : t.muted,
              ranked.flatMap((c, i) => (c.p50_ci && winner(c) === won ? [[i, ...c.p50_ci]] : [])),
              true,
            ),
          ),
          {
            type: 'scatter',
            symbolSize: 11,
            z: 4,
            data: ranked.map((c, i) => ({ value: [c.p50_ns, i], itemStyle: { color: color(c) } })),
          },
          // The figure stands beyond the whisker's end, where nothing crosses it.
          {
            type: 'scatter',
            symbolSize: 0,
            silent: true,
            tooltip: { show: false },
            data: ranked.map((c, i) => [c.p50_ci?.[1] ?? c.p50_ns, i]),
            label: { show: true, position: 'right', distance: 10, color: t.text, formatter: item => units.time(ranked[item.dataIndex].p50_ns) },
          },
        ],
      };
    },
  });
}
