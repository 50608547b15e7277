// Everything the reader has chosen lives in the address after #, so that a view can be bookmarked and sent.
const state = (() => {
  const values = new Map();
  const listeners = [];

  function read() {
    values.clear();
    for (const [key, value] of new URLSearchParams(location.hash.replace(/^#/, ''))) {
      if (value !== '') values.set(key, value);
    }
  }

  function write() {
    const text = new URLSearchParams([...values]).toString().replaceAll('%3A', ':').replaceAll('%2C', ',');
    history.replaceState(null, '', text ? `#${text}` : location.href.split('#')[0]);
  }

  function announce(keys) {
    for (const listener of listeners) listener(keys);
  }

  window.addEventListener('hashchange', () => {
    // A link of the contents names a section, not a choice.
    if (!location.hash.includes('=') && location.hash.length > 1) {
      write();
      return;
    }
    read();
    announce(null);
  });

  return {
    read,
    get: (key, otherwise = null) => values.get(key) ?? otherwise,
    list: key => values.get(key)?.split(',') ?? null,
    /** Changes choices; null takes one back. Tells everybody which keys changed. */
    set(changes) {
      for (const [key, value] of Object.entries(changes)) {
        if (value == null || value === '') values.delete(key);
        else values.set(key, String(value));
      }
      write();
      announce(Object.keys(changes));
    },
    clear() {
      values.clear();
      write();
      announce(null);
    },
    onChange: listener => listeners.push(listener),
  };
})();

/** The question at the top of the page: two sides, a kind of message, and the transports that come into question. */
const question = {
  get pair() {
    return `${state.get('server', question.usual.server)}:${state.get('client', question.usual.client)}`;
  },
  get need() {
    return data.needs.find(n => n.key === state.get('need')) ?? question.usual.need;
  },
  get codec() {
    return question.need?.codec ?? 'raw';
  },
  allows(cell) {
    const wanted = state.list('transport');
    return !wanted || wanted.includes(cell.transport);
  },
  /** Sound cells over the transports that come into question. */
  cells(test) {
    return data.sound.filter(c => !c.alone && question.allows(c) && test(c));
  },
  usual: { server: null, client: null, need: null },
};

/** What is asked when nobody has chosen yet: the pair of the project if it was measured, the smallest call. */
function chooseUsual() {
  const counts = new Map();
  for (const cell of data.sound) if (!cell.alone) counts.set(cell.pair, (counts.get(cell.pair) ?? 0) + 1);
  const commonest = [...counts].sort((a, b) => b[1] - a[1])[0];
  const preferred = ['native:managed', 'native:native'].find(p => counts.has(p) && counts.get(p) * 2 >= commonest[1]);
  [question.usual.server, question.usual.client] = (preferred ?? commonest?.[0] ?? 'native:native').split(':');
  // Of that pair's messages the smallest call, or else what most transports were measured with.
  const pair = `${question.usual.server}:${question.usual.client}`;
  const widths = new Map();
  for (const cell of data.sound) if (cell.pair === pair && !cell.alone) widths.set(cell.need, (widths.get(cell.need) ?? 0) + 1);
  const widest = Math.max(...widths.values());
  const measured = data.needs.filter(n => widths.get(n.key) * 2 >= widest);
  const ofMost = measured.filter(n => widths.get(n.key) === widest);
  question.usual.need =
    measured.find(n => n.workload === '64' && n.scenario === 'call') ??
    ofMost.find(n => sizeOf(n.workload) > 0) ??
    ofMost[0] ??
    data.needs[0];
}
