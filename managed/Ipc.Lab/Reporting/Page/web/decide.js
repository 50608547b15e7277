// Which one to use. The rule is the one of the workbook and the console (Verdict.cs), and a test holds them together.

/**
 * The fastest of comparable cells, all whose intervals overlap its own (between those there is no difference), and the first that is slower.
 * Where it has no interval, all some of whose launches may be as fast, and `certain` is false if there are any. `mixed`: those that decide
 * were measured in several placements, so that the host's choice of processors is part of the difference; not where the fastest is faster in each of
 * its launches.
 */
function decide(cells) {
  const ranked = [...cells].sort((a, b) => a.p50_ns - b.p50_ns);
  const best = ranked[0];
  if (!best) return null;
  const slower = slowerInEachLaunch(ranked);
  const tied = ranked.filter(cell => cell === best || (best.p50_ci ? overlap(cell, best) : !slower.has(cell)));
  const next = ranked.find(cell => !tied.includes(cell)) ?? null;
  const certain = best.p50_ci != null || tied.length === 1;
  const mixed =
    certain && new Set([...tied, ...(next ? [next] : [])].map(cell => cell.placement)).size > 1 && !(tied.length === 1 && slower.has(next));
  return { best, ranked, tied, next, mixed, certain };
}

/** The exact rank-sum test of launches that do not overlap, by Holm's procedure: SeenLaunches.Slower. */
function slowerInEachLaunch(ranked) {
  const chances = ranked
    .slice(1)
    .map(cell => ({ cell, chance: chanceBelow(ranked[0].seen, cell.seen) }))
    .sort((a, b) => a.chance - b.chance);
  const first = chances.findIndex(({ chance }, i) => chance > 0.05 / (chances.length - i));
  return new Set((first < 0 ? chances : chances.slice(0, first)).map(({ cell }) => cell));
}

function chanceBelow(own, others) {
  if (!own || !others || own[2] >= others[1]) return 1;
  let ways = 1;
  for (let i = 1; i <= own[0]; i++) ways *= (others[0] + i) / i;
  return 2 / ways;
}

function overlap(a, b) {
  const [low, high] = a.p50_ci ?? [a.p50_ns, a.p50_ns];
  return low <= b.p50_ci[1] && b.p50_ci[0] <= high;
}

/**
 * The rows of the answer: for each message its raw bytes, and for messages of objects the best transport and codec together.
 * Cells of a fixed count repeat what somebody published; they answer nobody's question. Of workloads with the same message (64 and sweep-64) the one
 * counts that was measured over most transports.
 */
function questions(pair) {
  const rows = new Map();
  for (const cell of question.cells(c => c.pair === pair && c.count == null)) {
    const objects = data.codecOf.get(cell.codec)?.objects ?? false;
    const key = `${cell.scenario} ${cell.workload} ${objects ? 'objects' : 'bytes'}`;
    if (!rows.has(key)) rows.set(key, { key, scenario: cell.scenario, workload: cell.workload, objects, cells: [] });
    rows.get(key).cells.push(cell);
  }
  const rank = (list, id) => list.findIndex(entry => entry.id === id);
  const sorted = [...rows.values()].sort(
    (a, b) =>
      rank(data.scenarios, a.scenario) - rank(data.scenarios, b.scenario) ||
      a.objects - b.objects ||
      sizeOf(a.workload) - sizeOf(b.workload) ||
      rank(data.workloads, a.workload) - rank(data.workloads, b.workload),
  );
  const answered = new Map();
  for (const row of sorted) {
    const key = `${row.scenario} ${row.objects} ${messageOf(row.workload)}`;
    if (!(answered.get(key)?.cells.length >= row.cells.length)) answered.set(key, row);
  }
  return [...answered.values()].map(row => ({ ...row, verdict: decide(row.cells) }));
}

/** What is equal of workloads with the same message. */
function messageOf(workload) {
  const entry = data.workloadOf.get(workload);
  return entry?.request_bytes
    ? JSON.stringify([entry.request_bytes, entry.reply_bytes, entry.text, entry.bucket, entry.rate])
    : workload;
}
