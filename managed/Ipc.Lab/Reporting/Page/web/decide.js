// Which one to use. The rule is the one of the workbook and the console (Verdict.cs), and a test holds them together.

/**
 * The fastest of comparable cells, all whose intervals overlap its own (between those there is no difference), and the first that is slower.
 * Without an interval of the fastest nothing can be told apart. `mixed`: those that decide
 * were measured in several placements, so that the host's choice of processors is part of the difference.
 */
function decide(cells) {
  const ranked = [...cells].sort((a, b) => a.p50_ns - b.p50_ns);
  const best = ranked[0];
  if (!best) return null;
  const tied = best.p50_ci ? ranked.filter(cell => cell === best || overlap(cell, best)) : [best];
  const next = ranked.find(cell => !tied.includes(cell)) ?? null;
  const mixed = new Set([...tied, ...(next ? [next] : [])].map(cell => cell.placement)).size > 1;
  return { best, ranked, tied, next, mixed, certain: best.p50_ci != null || ranked.length === 1 };
}

function overlap(a, b) {
  const [low, high] = a.p50_ci ?? [a.p50_ns, a.p50_ns];
  return low <= b.p50_ci[1] && b.p50_ci[0] <= high;
}

/**
 * The rows of the answer: for each message its raw bytes, and for messages of objects the best transport and codec together.
 * Cells of a fixed count repeat what somebody published; they answer nobody's question.
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
  return [...rows.values()]
    .sort(
      (a, b) =>
        rank(data.scenarios, a.scenario) - rank(data.scenarios, b.scenario) ||
        a.objects - b.objects ||
        sizeOf(a.workload) - sizeOf(b.workload) ||
        rank(data.workloads, a.workload) - rank(data.workloads, b.workload),
    )
    .map(row => ({ ...row, verdict: decide(row.cells) }));
}
