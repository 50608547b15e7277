// Every server side with every client side, one small table per transport; shaded by how much longer than its own fastest pair.
section(
  'pairs',
  'Languages: every server with every client',
  body => {
    const need = question.need;
    const cells = data.cells.filter(c => !c.alone && !c.superseded && c.need === need?.key && question.allows(c));
    const order = data.sides.map(s => s.id);
    const sidesOf = key => [...new Set(cells.map(c => c[key]))].sort((a, b) => order.indexOf(a) - order.indexOf(b));
    const [servers, clients] = [sidesOf('server'), sidesOf('client')];
    const named = data.transportNames.filter(t => cells.some(c => c.transport === t));
    const transports = named.filter(t => cells.some(c => c.transport === t && c.status !== 'skipped'));
    const skipped = named.filter(t => !transports.includes(t));
    body.replaceChildren(
      element(
        'p',
        { className: 'about' },
        `${need ? needName(need) : ''}. Rows are the server's side, columns the client's. ` +
        `The deeper the shade, the longer it takes compared with the same transport's fastest pair (framed).`,
      ),
      transports.length === 0
        ? element('p', { className: 'nothing' }, 'Nothing was measured for this message over these transports.')
        : element(
            'div',
            { className: 'heats' },
            transports.map(t =>
              heat(
                t,
                cells.filter(c => c.transport === t),
                servers,
                clients,
              ),
            ),
          ),
      skipped.length === 0
        ? ''
        : element('p', { className: 'about' }, `Skipped with every pair: ${skipped.join(', ')}. The table of all cells says why, under status "skipped".`),
    );
  },
  'Languages',
);

function heat(transport, cells, servers, clients) {
  const sound = cells.filter(c => c.status === 'ok' && c.p50_ns != null);
  const least = Math.min(...sound.map(c => c.p50_ns));
  const most = Math.max(...sound.map(c => c.p50_ns), least * 3);
  const cellOf = (server, client) => cells.find(c => c.server === server && c.client === client);
  return element(
    'table',
    { className: 'heat' },
    element('caption', null, transport),
    element(
      'thead',
      null,
      element(
        'tr',
        null,
        element('th', null, element('small', null, 'server ↓ client →')),
        clients.map(c => element('th', { scope: 'col' }, sideName(c))),
      ),
    ),
    element(
      'tbody',
      null,
      servers.map(server =>
        element(
          'tr',
          null,
          element('th', { scope: 'row' }, sideName(server)),
          clients.map(client => heatCell(cellOf(server, client), least, most)),
        ),
      ),
    ),
  );
}

function heatCell(cell, least, most) {
  if (!cell) return element('td', { className: 'none', title: 'not measured' }, units.unknown);
  if (cell.status !== 'ok') return element('td', { className: 'none', title: cell.reason ?? '' }, cell.status);
  const depth = Math.log(cell.p50_ns / least) / Math.log(most / least);
  return element(
    'td',
    {
      className: cell.p50_ns === least ? 'best' : null,
      style: `background: rgba(var(--heat), ${(0.06 + 0.4 * depth).toFixed(3)})`,
      title: charts.describe(cell).join('\n'),
    },
    units.time(cell.p50_ns),
    element('small', null, cell.p50_ci ? units.interval(cell.p50_ci, units.time) : 'no interval'),
  );
}
