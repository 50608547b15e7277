// The figures as the report wrote them: JSON, compressed, in the page itself.
const data = { cells: [], launches: null };

async function unpack(id) {
  const text = document.getElementById(id).textContent.trim();
  const bytes = Uint8Array.from(atob(text), character => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

async function readFigures() {
  Object.assign(data, await unpack('figures'));
  data.scenarioOf = new Map(data.scenarios.map(s => [s.id, s]));
  data.workloadOf = new Map(data.workloads.map(w => [w.id, w]));
  data.codecOf = new Map(data.codecs.map(c => [c.id, c]));
  data.sideOf = new Map(data.sides.map(s => [s.id, s]));
  const transportRank = new Map(data.transports.map((t, i) => [t.id, i]));
  data.cells.forEach((cell, index) => {
    cell.index = index;
    [cell.server, cell.client] = cell.pair.split(':');
    cell.transportId = cell.transport.split('?')[0];
    cell.alone = cell.transport === 'none';
    cell.need = `${cell.scenario} ${cell.workload} ${cell.codec}${cell.count == null ? '' : ` x${cell.count}`}`;
    cell.cpu = cell.cpu_ns_per_op ? sumOrNull(cell.cpu_ns_per_op.server, cell.cpu_ns_per_op.client) : null;
  });
  // What a chart or an answer may use: the newest word on the cell, and only if it is a figure.
  data.sound = data.cells.filter(c => c.status === 'ok' && c.p50_ns != null && !c.superseded);
  const byRank = (a, b) => (transportRank.get(a.split('?')[0]) ?? 99) - (transportRank.get(b.split('?')[0]) ?? 99) || a.localeCompare(b);
  data.transportNames = [...new Set(data.cells.filter(c => !c.alone).map(c => c.transport))].sort(byRank);
  data.needs = needsOf(data.cells.filter(c => !c.alone));
}

async function readLaunches() {
  data.launches ??= await unpack('launches');
  return data.launches;
}

function sumOrNull(a, b) {
  return a == null || b == null ? null : a + b;
}

/** One-way messages as fast as they go: a figure is a message's share of the time. */
function isStream(cell) {
  return data.scenarioOf.get(cell.scenario)?.is_stream === true;
}

/** Whether nothing comes back, so that only the message has a size. */
function isOneWay(cell) {
  return data.scenarioOf.get(cell.scenario)?.receiver != null;
}

/** The distinct kinds of message measured, in the registry's order. */
function needsOf(cells) {
  const rank = (list, id) => list.findIndex(entry => entry.id === id);
  const found = new Map();
  for (const cell of cells) {
    if (!found.has(cell.need))
      found.set(cell.need, { key: cell.need, scenario: cell.scenario, workload: cell.workload, codec: cell.codec, count: cell.count });
  }
  return [...found.values()].sort(
    (a, b) =>
      rank(data.scenarios, a.scenario) - rank(data.scenarios, b.scenario) ||
      sizeOf(a.workload) - sizeOf(b.workload) ||
      rank(data.workloads, a.workload) - rank(data.workloads, b.workload) ||
      rank(data.codecs, a.codec) - rank(data.codecs, b.codec) ||
      (a.count ?? 0) - (b.count ?? 0),
  );
}

/** Bytes of one operation, both ways; 0 where the workload has no size of its own. */
function sizeOf(workload) {
  const entry = data.workloadOf.get(workload);
  return (entry?.request_bytes ?? 0) + (entry?.reply_bytes ?? 0);
}

/** Of which curve a cell is a point, or undefined. */
function groupOf(cell) {
  return data.workloadOf.get(cell.workload)?.group;
}

/** "1 kB → 10 kB", from the registry's sizes. */
function sizeName(workload, oneWay) {
  const entry = data.workloadOf.get(workload);
  if (entry?.text) return entry.text.map(text => `“${text}”`).join(' → ');
  if (!entry?.request_bytes) return workload;
  const bytes = value => units.bytesTick(value);
  const together = entry.bucket ? ` × ${entry.bucket}` : entry.rate ? `, ${units.rateTick(entry.rate)}` : '';
  const sizes = oneWay ? bytes(entry.request_bytes) : `${bytes(entry.request_bytes)} → ${bytes(entry.reply_bytes)}`;
  return `${sizes}${together}`;
}

function scenarioName(id) {
  return data.scenarioOf.get(id)?.name ?? id;
}

function needName(need) {
  const codec = need.codec === 'raw' ? '' : `, objects by ${need.codec}`;
  return `${sizeName(need.workload, isOneWay(need))} ${scenarioName(need.scenario)}${codec}${need.count == null ? '' : `, ${need.count} of them`}`;
}

function sideName(id) {
  return data.sideOf.get(id)?.name ?? id;
}

function pairName(pair) {
  return pair.split(':').map(sideName).join(' : ');
}
