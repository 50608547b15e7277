// Starts the page: theme, figures, the question, the sections.
const themes = ['system', 'light', 'dark'];
const systemDark = matchMedia('(prefers-color-scheme: dark)');

function applyTheme() {
  const chosen = state.get('theme', 'system');
  const next = chosen === 'system' ? (systemDark.matches ? 'dark' : 'light') : chosen;
  document.getElementById('theme').textContent = `Theme: ${chosen}`;
  if (document.documentElement.dataset.theme === next) return;
  document.documentElement.dataset.theme = next;
  document.documentElement.style.colorScheme = next;
  charts.redrawAll();
}

// Paper is light, whatever the screen is.
function paper(printing) {
  document.documentElement.dataset.theme = printing || !document.documentElement.dataset.screen ? 'light' : document.documentElement.dataset.screen;
  charts.drawAllNow();
  charts.redrawAll();
}

function fillSelect(select, entries, value) {
  select.replaceChildren(...entries);
  select.value = value;
}

function fillQuestion() {
  const sides = key => data.sides.map(s => s.id).filter(id => data.cells.some(c => !c.alone && c[key] === id));
  const options = ids => ids.map(id => element('option', { value: id }, sideName(id)));
  const [server, client] = question.pair.split(':');
  fillSelect(document.getElementById('server'), options(sides('server')), server);
  fillSelect(document.getElementById('client'), options(sides('client')), client);
  const groups = data.scenarios
    .filter(s => data.needs.some(n => n.scenario === s.id))
    .map(s =>
      element(
        'optgroup',
        { label: capital(scenarioName(s.id)) },
        data.needs.filter(n => n.scenario === s.id).map(n => element('option', { value: n.key }, needName(n))),
      ),
    );
  fillSelect(document.getElementById('need'), groups, question.need?.key);
  fillTransports();
}

function fillTransports() {
  const wanted = state.list('transport');
  document.querySelector('#transports > summary').textContent = wanted
    ? `${wanted.filter(t => data.transportNames.includes(t)).length} of ${data.transportNames.length} transports`
    : 'All transports';
  const box = document.getElementById('transport-choices');
  if (box.children.length === 0) {
    box.append(...data.transportNames.map(name => element('label', null, element('input', { type: 'checkbox', value: name }), name)));
    box.addEventListener('change', () => {
      const on = [...box.querySelectorAll('input')].filter(i => i.checked).map(i => i.value);
      state.set({ transport: on.length === data.transportNames.length ? null : on.join(',') || '-' });
    });
  }
  for (const input of box.querySelectorAll('input')) input.checked = !wanted || wanted.includes(input.value);
}

function listen() {
  for (const id of ['server', 'client', 'need'])
    document.getElementById(id).addEventListener('change', event => state.set({ [id]: event.target.value }));
  document.getElementById('reset').addEventListener('click', () => state.clear());
  document.getElementById('all-transports').addEventListener('click', () => state.set({ transport: null }));
  document.getElementById('no-transports').addEventListener('click', () => state.set({ transport: '-' }));
  document.getElementById('theme').addEventListener('click', () => {
    const next = themes[(themes.indexOf(state.get('theme', 'system')) + 1) % themes.length];
    state.set({ theme: next === 'system' ? null : next });
  });
  const choose = document.getElementById('transports');
  document.addEventListener('click', event => {
    if (!choose.contains(event.target)) choose.open = false;
  });
  document.addEventListener('keydown', event => {
    if (event.key === 'Escape' && choose.open) {
      choose.open = false;
      choose.querySelector('summary').focus();
    }
  });
  systemDark.addEventListener('change', applyTheme);
  window.addEventListener('beforeprint', () => {
    document.documentElement.dataset.screen = document.documentElement.dataset.theme;
    paper(true);
  });
  window.addEventListener('afterprint', () => paper(false));
  state.onChange(changed => {
    if (!changed || changed.includes('theme')) applyTheme();
    if (changed?.every(key => key === 'theme')) return;
    fillQuestion();
    drawSections(changed);
  });
}

function fillHead() {
  const m = data.machine;
  const failed = data.cells.filter(c => c.status === 'failed').length;
  const unsteady = data.cells.filter(c => c.status === 'unsteady').length;
  const checked = data.cells.filter(c => c.status === 'checked').length;
  document.getElementById('facts').textContent = [
    m.cpu.model,
    `${m.cpu.cpus} CPUs`,
    m.virtualisation === 'none' ? 'bare metal' : `virtual (${m.virtualisation})`,
    m.system,
    `kernel ${m.kernel}`,
    `${data.cells.length} cells`,
  ].join(' · ');
  const banners = [
    ...data.banners,
    failed ? `${failed} of ${data.cells.length} cells failed; they stand in the last table with the reason.` : null,
    unsteady ? `${unsteady} cells did not settle and are in no chart.` : null,
    checked ? `${checked} cells were only checked (--check) and have no figures.` : null,
  ].filter(Boolean);
  document.getElementById('banners').replaceChildren(...banners.map(text => element('p', { className: 'banner' }, text)));
  document.getElementById('made').textContent =
    `Written by ipc report from ${data.runs.map(r => r.folder).join(', ')}. How each figure is made: docs/measurement.md. ` +
    `Charts: Apache ECharts ${echarts.version}, Apache License 2.0.`;
}

async function start() {
  state.read();
  applyTheme();
  try {
    await readFigures();
  } catch (problem) {
    document.getElementById('loading').textContent =
      `The figures in this page cannot be read (${problem.message}). It needs Chrome or Edge 80, Firefox 113 or Safari 16.4, and to be whole.`;
    throw problem;
  }
  chooseUsual();
  fillHead();
  buildSections();
  listen();
  fillQuestion();
  drawSections(null);
  document.documentElement.dataset.ready = Math.round(performance.now());
}

start();
