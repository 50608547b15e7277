// Every cell, also those without figures: sorts, filters, copies, and opens into its launches.
const cellTable = (() => {
  const step = 100;
  const columns = [
    { key: 'transport', title: 'transport', text: c => c.transport },
    { key: 'pair', title: 'server : client', text: c => c.pair },
    { key: 'codec', title: 'codec', text: c => c.codec },
    { key: 'scenario', title: 'scenario', text: c => c.scenario },
    { key: 'workload', title: 'workload', text: c => (c.count == null ? c.workload : `${c.workload} x${c.count}`), by: c => sizeOf(c.workload) },
    { key: 'status', title: 'status', text: c => (c.superseded ? `${c.status}, older` : c.status) },
    { key: 'p50', title: 'p50', text: c => units.time(c.p50_ns), by: c => c.p50_ns },
    { key: 'interval', title: 'interval', text: c => units.interval(c.p50_ci, units.time), by: c => c.p50_ci && c.p50_ci[1] / c.p50_ci[0] },
    { key: 'p99', title: 'p99', text: c => units.time(c.p99_ns), by: c => c.p99_ns },
    { key: 'max', title: 'max', text: c => units.time(c.max_ns), by: c => c.max_ns },
    { key: 'rate', title: 'rate', text: c => units.rate(c.ops_per_s), by: c => c.ops_per_s },
    {
      key: 'floor',
      title: '× floor',
      text: c => (c.floor_ratio == null ? units.unknown : units.ratio(c.floor_ratio).replace('\u00a0×', '')),
      by: c => c.floor_ratio,
    },
    { key: 'cpu', title: 'CPU', text: c => units.time(c.cpu), by: c => c.cpu },
    { key: 'launches', title: 'launches', text: c => `${c.launches ?? 0}`, by: c => c.launches },
  ];
  const filters = ['pair', 'codec', 'scenario', 'workload', 'status'];
  let shown = step;

  function wanted() {
    const words = (state.get('find') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = filters.map(key => [key, state.get(`in-${key}`)]).filter(([, value]) => value);
    const cells = data.cells.filter(
      c => (c.alone || question.allows(c)) && chosen.every(([key, value]) => c[key] === value) && words.every(word => textOf(c).includes(word)),
    );
    const column = columns.find(col => col.key === state.get('sort', 'transport')) ?? columns[0];
    const down = state.get('order') === 'down' ? -1 : 1;
    const by = column.by ?? column.text;
    return cells.sort((a, b) => {
      const [x, y] = [by(a), by(b)];
      // What has no figure comes last, whichever way figures go.
      if (x == null || y == null) return (x == null) - (y == null) || a.index - b.index;
      return down * (typeof x === 'number' ? x - y : x.localeCompare(y)) || a.index - b.index;
    });
  }

  function textOf(cell) {
    return (cell.words ??=
      `${cell.transport} ${cell.pair} ${cell.codec} ${cell.scenario} ${cell.workload} ${cell.status} ${cell.reason ?? ''} ${cell.note ?? ''}`.toLowerCase());
  }

  function head() {
    const sorted = state.get('sort', 'transport');
    return element(
      'thead',
      null,
      element(
        'tr',
        null,
        element('th', null, element('span', { className: 'hidden' }, 'launches')),
        columns.map(column => {
          const button = element('button', { type: 'button' }, column.title);
          button.addEventListener('click', () => {
            const again = sorted === column.key;
            state.set({ sort: column.key, order: again && state.get('order') !== 'down' ? 'down' : null });
            document.querySelector(`#cells th[data-key="${column.key}"] button`)?.focus();
          });
          const direction = sorted === column.key ? (state.get('order') === 'down' ? 'descending' : 'ascending') : 'none';
          return element(
            'th',
            { scope: 'col', 'data-key': column.key, 'aria-sort': direction, className: column.by && column.key !== 'workload' ? 'n' : null },
            button,
          );
        }),
      ),
    );
  }

  function row(cell) {
    const button = element(
      'button',
      { type: 'button', 'aria-expanded': 'false', 'aria-label': `launches of ${cell.transport} ${cell.pair} ${cell.need}` },
      '+',
    );
    const made = element(
      'tr',
      null,
      element('td', { className: 'open' }, button),
      columns.map(column =>
        element(
          'td',
          {
            className: column.key === 'status' ? `status-${cell.status}` : column.by && column.key !== 'workload' ? 'n' : null,
            title: column.key === 'status' ? cell.reason : null,
          },
          column.text(cell),
        ),
      ),
    );
    button.addEventListener('click', () => toggle(cell, made, button));
    return made;
  }

  async function toggle(cell, made, button) {
    const open = button.getAttribute('aria-expanded') === 'true';
    button.setAttribute('aria-expanded', String(!open));
    button.textContent = open ? '+' : '−';
    if (open) {
      made.nextSibling.remove();
      return;
    }
    const content = element('td', { colSpan: columns.length + 1 });
    made.after(element('tr', { className: 'more' }, content));
    content.append(...details(cell, (await readLaunches())[cell.index] ?? []));
  }

  function copyable() {
    const lines = [columns.map(c => c.title).concat('reason'), ...wanted().map(cell => [...columns.map(c => c.text(cell)), cell.reason ?? ''])];
    return lines.map(line => line.join('\t').replaceAll(/[\r\n]+/g, ' ')).join('\n');
  }

  async function copy(button) {
    const text = copyable();
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // A page opened as a file may not use the clipboard directly everywhere.
      const area = element('textarea', { className: 'hidden' });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    const lines = text.split('\n').length - 1;
    button.textContent = `Copied ${lines} rows`;
    say(`${lines} rows copied, tab-separated`);
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2500);
  }

  function controls() {
    const find = element('input', {
      type: 'search',
      value: state.get('find', ''),
      placeholder: 'words, e.g. shm failed',
      'aria-label': 'Find cells by words',
    });
    find.addEventListener('input', () => state.set({ find: find.value }));
    const selects = filters.map(key => {
      const select = element(
        'select',
        { 'data-filter': key },
        element('option', { value: '' }, 'all'),
        [...new Set(data.cells.map(c => c[key]))].map(value => element('option', { value }, value)),
      );
      select.value = state.get(`in-${key}`, '');
      select.addEventListener('change', () => state.set({ [`in-${key}`]: select.value }));
      return element('label', null, key === 'pair' ? 'server : client' : key, select);
    });
    const copyButton = element('button', { type: 'button', id: 'copy' }, 'Copy');
    copyButton.addEventListener('click', () => copy(copyButton));
    return element('div', { className: 'filters' }, element('label', null, 'find', find), selects, copyButton, element('span', { id: 'cell-count' }));
  }

  function fill(body) {
    const cells = wanted();
    const counts = new Map();
    for (const cell of cells) counts.set(cell.status, (counts.get(cell.status) ?? 0) + 1);
    const sentence = `${cells.length} of ${data.cells.length} cells${[...counts]
      .filter(([s]) => s !== 'ok')
      .map(([s, n]) => `, ${n} ${s}`)
      .join('')}`;
    body.querySelector('#cell-count').textContent = sentence;
    const table = element('table', { className: 'cells' }, head(), element('tbody', null, cells.slice(0, shown).map(row)));
    const rest = cells.length - shown;
    const more = element('button', { type: 'button', id: 'more-cells' }, `Show ${Math.min(step * 5, rest)} more`);
    more.addEventListener('click', () => {
      shown += step * 5;
      fill(body);
    });
    body
      .querySelector('.table')
      .replaceChildren(
        element('div', { className: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Cells' }, table),
        ...(rest > 0 ? [more] : []),
      );
    return sentence;
  }

  return {
    controls,
    fill,
    fresh: () => {
      shown = step;
    },
  };
})();

/** What the lab read of the processes' memory at a moment: private, and proportional in brackets. */
function memoryLine(phases, moment) {
  const sides = moment === 'ten' ? ['servers'] : ['server', 'client'];
  const parts = sides
    .filter(side => phases?.[`${moment}_${side}_private_bytes`] != null)
    .map(
      side => `${side} ${units.bytes(phases[`${moment}_${side}_private_bytes`])} (${units.bytes(phases[`${moment}_${side}_proportional_bytes`])})`,
    );
  return parts.length > 0 && `Private memory ${moment === 'ten' ? 'of ten idle' : moment} ${parts.join(', ')}; proportional in brackets.`;
}

/** What a cell has beside its row: why it has no figures, what it cost, every launch. */
function details(cell, launches) {
  const by = (figure, format) => (figure ? `${format(figure.server)} server, ${format(figure.client)} client` : null);
  const lines = [
    cell.reason && `${cell.status}: ${cell.reason}`,
    cell.note,
    cell.wine && `${cell.wine}: proves behaviour, not speed`,
    cell.coverage && `Intervals hold the true median in ${units.percent(cell.coverage)} of cases.`,
    cell.floor &&
      `Floor ${cell.floor} ${units.time(cell.floor_ns)}, ratio ${units.ratio(cell.floor_ratio)}` +
      `${cell.floor_ratio_ci ? `, interval ${units.interval(cell.floor_ratio_ci, units.ratio)}` : ''}.`,
    cell.memory_bytes && `Memory ${by(cell.memory_bytes, units.bytes)}.`,
    cell.allocated_bytes_per_op != null && `Allocated ${units.bytes(cell.allocated_bytes_per_op)} an operation.`,
    cell.cold_ns != null && `Connecting and the first operation ${units.time(cell.cold_ns)}.`,
    cell.phases?.server_ready_ns != null && `The server's process listens ${units.time(cell.phases.server_ready_ns)} after its start.`,
    ...['idle', 'connected', 'loaded', 'ten'].map(moment => memoryLine(cell.phases, moment)),
    cell.slowest_by_fastest != null && `The slowest client sent ${units.percent(cell.slowest_by_fastest)} of what the fastest did.`,
    cell.lost != null && `${units.count(cell.lost)} messages dropped, and said so.`,
  ].filter(Boolean);
  const placements = (cell.placements ?? []).map(
    p =>
      `Placement ${p.placement ?? 'unknown'}: p50 ${units.time(p.p50_ns)} (${units.interval(p.p50_ci, units.time)}), ` +
      `${p.launches} launches, line ${units.time(p.line_ns)}.`,
  );
  const head = ['round', 'status', 'placement', 'line', 'operations', 'p50', 'p99', 'max', '× floor', 'why'];
  const table =
    launches.length === 0
      ? element('p', null, 'No launch of it was made.')
      : element(
          'table',
          null,
          element(
            'thead',
            null,
            element(
              'tr',
              null,
              head.map(t => element('th', { scope: 'col' }, t)),
            ),
          ),
          element(
            'tbody',
            null,
            launches.map(l =>
              element(
                'tr',
                null,
                [
                  `${l.round + 1}${l.repeated ? ', again' : ''}`,
                  l.status,
                  l.placement ?? '',
                  units.time(l.line_ns),
                  units.count(l.operations),
                  units.time(l.p50_ns),
                  units.time(l.p99_ns),
                  units.time(l.max_ns),
                  units.ratio(l.floor_ratio),
                  l.reason ?? '',
                ].map(value => element('td', null, value)),
              ),
            ),
          ),
        );
  return [...lines, ...placements].map(line => element('p', null, line)).concat(element('div', { className: 'scroll' }, table));
}

section('cells', 'Every cell', (body, changed) => {
  const own = ['find', 'sort', 'order', 'transport', 'in-pair', 'in-codec', 'in-scenario', 'in-workload', 'in-status'];
  if (changed && !changed.some(key => own.includes(key))) return;
  // Whoever types into a filter keeps it.
  if (!changed) {
    body.replaceChildren(
      element(
        'p',
        { className: 'about' },
        'Cells that failed, were skipped or did not settle stand here with their reasons and in no chart. ' +
        'The + opens a cell’s launches; CPU is that of both ends for one operation.',
      ),
      cellTable.controls(),
      element('div', { className: 'table' }),
    );
  }
  cellTable.fresh();
  const sentence = cellTable.fill(body);
  if (changed) say(sentence);
});
