// What all charts share: colours of the theme, intervals, drawing only what is looked at, and the same figures as a table beneath.
const charts = (() => {
  const palettes = {
    light: ['#0b62c4', '#c8384a', '#1f8a4c', '#8a4fd0', '#b86a00', '#007f8c', '#b0357f', '#5f6b78', '#6c7a00', '#94542a', '#3d3da8', '#00695c'],
    dark: ['#6cb2ff', '#ff8b98', '#66d393', '#c3a3ff', '#f2b04f', '#52d0dc', '#f08cc8', '#aab4c0', '#c6d24f', '#dfa07c', '#9d9dff', '#59c4b4'],
  };
  const symbols = ['circle', 'rect', 'triangle', 'diamond', 'emptyCircle', 'emptyRect', 'emptyTriangle', 'emptyDiamond'];
  const drawn = new Map();
  const waiting = new WeakMap();

  const near = new IntersectionObserver(
    entries => {
      for (const entry of entries) if (entry.isIntersecting) waiting.get(entry.target)?.();
    },
    { rootMargin: '300px' },
  );
  const sized = new ResizeObserver(entries => {
    for (const entry of entries) drawn.get(entry.target)?.redraw();
  });

  function theme() {
    const wanted = document.documentElement.dataset.theme;
    const style = getComputedStyle(document.documentElement);
    const read = name => style.getPropertyValue(name).trim();
    return {
      dark: wanted === 'dark',
      text: read('--text'),
      muted: read('--muted'),
      line: read('--line'),
      grid: read('--grid'),
      back: read('--back'),
      accent: read('--accent'),
      font: getComputedStyle(document.body).fontFamily,
    };
  }

  /** The same colour and sign for a transport wherever it is drawn. */
  function look(transport) {
    const at = Math.max(0, data.transportNames.indexOf(transport));
    const palette = palettes[theme().dark ? 'dark' : 'light'];
    return { color: palette[at % palette.length], symbol: symbols[(at + Math.floor(at / palette.length)) % symbols.length] };
  }

  function hue(index) {
    const palette = palettes[theme().dark ? 'dark' : 'light'];
    return palette[index % palette.length];
  }

  /** Whiskers. Each item: [at, low, high]; `across` when figures lie on the horizontal axis. */
  function whiskers(name, color, items, across = false) {
    return {
      type: 'custom',
      name,
      silent: true,
      z: 3,
      data: items,
      itemStyle: { color },
      tooltip: { show: false },
      clip: true,
      encode: across ? { y: 0, x: [1, 2] } : { x: 0, y: [1, 2] },
      renderItem(_, api) {
        const at = api.value(0);
        const point = value => api.coord(across ? [value, at] : [at, value]);
        const [a, b] = [point(api.value(1)), point(api.value(2))];
        const cap = 4;
        const style = { stroke: color, lineWidth: 1.5, fill: null };
        const line = (x1, y1, x2, y2) => ({ type: 'line', shape: { x1, y1, x2, y2 }, style });
        return {
          type: 'group',
          children: across
            ? [line(a[0], a[1], b[0], b[1]), line(a[0], a[1] - cap, a[0], a[1] + cap), line(b[0], b[1] - cap, b[0], b[1] + cap)]
            : [line(a[0], a[1], b[0], b[1]), line(a[0] - cap, a[1], a[0] + cap, a[1]), line(b[0] - cap, b[1], b[0] + cap, b[1])],
        };
      },
    };
  }

  /** A logarithmic axis that begins and ends a little outside its figures, with ticks people know. */
  function logAxis(name, format, figures, further = {}) {
    const t = theme();
    const known = figures.flat().filter(v => v > 0);
    const [low, high] = [Math.min(...known) / 1.25, Math.max(...known) * 1.25];
    return {
      type: 'log',
      name,
      nameLocation: 'middle',
      min: known.length ? low : 1,
      max: known.length ? high : 10,
      nameTextStyle: { color: t.muted },
      minorTick: { show: false },
      axisLabel: { color: t.muted, formatter: format, hideOverlap: true, customValues: ticksBetween(low, high) },
      axisTick: { customValues: ticksBetween(low, high) },
      axisLine: { show: true, lineStyle: { color: t.line } },
      splitLine: { lineStyle: { color: t.grid } },
      ...further,
    };
  }

  // Powers of ten; with 2 and 5 between them where there are few.
  function ticksBetween(low, high) {
    if (!(low > 0) || !(high > low)) return [];
    const decades = Math.log10(high / low);
    const steps = decades > 2.5 ? [1] : decades > 0.7 ? [1, 2, 5] : [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      for (const step of steps) {
        const value = step * 10 ** power;
        if (value >= low && value <= high) ticks.push(value);
      }
    }
    return ticks;
  }

  function categoryAxis(names, further = {}) {
    const t = theme();
    return {
      type: 'category',
      data: names,
      axisTick: { show: false },
      axisLine: { lineStyle: { color: t.line } },
      axisLabel: { color: t.text, ...further.axisLabel },
      ...without(further, 'axisLabel'),
    };
  }

  function without(object, key) {
    return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
  }

  /** A tooltip's content, from lines of text. */
  function tip(title, lines) {
    return element(
      'div',
      { className: 'tip' },
      element('b', null, title),
      lines.map(line => element('div', null, line)),
    );
  }

  function describe(cell) {
    const lines = [
      `p50 ${units.time(cell.p50_ns)}`,
      cell.p50_ci ? `${units.percent(cell.coverage)} interval ${units.interval(cell.p50_ci, units.time)}` : 'too few launches for an interval',
      `p99 ${units.time(cell.p99_ns)}`,
      `CPU ${units.time(cell.cpu_ns_per_op?.server)} server, ${units.time(cell.cpu_ns_per_op?.client)} client`,
      `${cell.launches} launches${cell.placement ? `, placement ${cell.placement}` : ''}`,
    ];
    return lines.filter(line => !line.includes(units.unknown));
  }

  /**
   * Draws into a figure when it comes into sight, again when width or theme change.
   * option(width) gives what ECharts draws, or null when there is nothing to draw.
   */
  function draw(figure, { height, label, option, rows, nothing }) {
    const holder = element('div', { className: 'chart', role: 'img', 'aria-label': label });
    const old = figure.querySelector('.chart, .nothing');
    const table = figure.querySelector('details.data');
    if (old) forget(old);
    table?.remove();
    if (old) old.replaceWith(holder);
    else figure.append(holder);
    if (nothing) {
      holder.replaceWith(element('p', { className: 'nothing' }, nothing));
      return;
    }
    holder.style.height = `${height}px`;
    figure.append(asTable(label, rows));
    let chart = null;
    let width = 0;
    const job = {
      redraw(always = false) {
        if (!chart || (!always && width === holder.clientWidth)) return;
        width = holder.clientWidth;
        chart.resize({ width, height });
        chart.setOption(whole(option(width)), true);
      },
      now() {
        near.unobserve(holder);
        if (chart) return;
        width = holder.clientWidth;
        chart = echarts.init(holder, null, { renderer: 'svg', width, height });
        chart.setOption(whole(option(width)));
        sized.observe(holder);
      },
      end() {
        near.unobserve(holder);
        sized.unobserve(holder);
        chart?.dispose();
      },
    };
    drawn.set(holder, job);
    waiting.set(holder, job.now);
    near.observe(holder);
  }

  function whole(option) {
    const t = theme();
    return {
      animation: false,
      backgroundColor: 'transparent',
      textStyle: { color: t.text, fontFamily: t.font },
      ...option,
      tooltip: { confine: true, backgroundColor: t.back, borderColor: t.line, textStyle: { color: t.text }, ...option.tooltip },
    };
  }

  function forget(holder) {
    drawn.get(holder)?.end();
    drawn.delete(holder);
  }

  // What the chart shows, for those who cannot see it and those who want the figures; made when it is opened.
  function asTable(label, rows) {
    const details = element('details', { className: 'data' }, element('summary', null, 'The figures as a table'));
    details.addEventListener('toggle', () => {
      if (!details.open || details.querySelector('table')) return;
      const [head, ...body] = rows();
      details.append(
        element(
          'div',
          { className: 'scroll', tabindex: '0', role: 'region', 'aria-label': label },
          element(
            'table',
            null,
            element(
              'thead',
              null,
              element(
                'tr',
                null,
                head.map(title => element('th', { scope: 'col' }, title)),
              ),
            ),
            element(
              'tbody',
              null,
              body.map(row =>
                element(
                  'tr',
                  null,
                  row.map(value => element('td', null, value)),
                ),
              ),
            ),
          ),
        ),
      );
    });
    return details;
  }

  // Fingers and narrow screens: names above the lines instead of beside them.
  function legend(width, names) {
    return {
      show: true,
      top: 0,
      left: 0,
      right: 0,
      type: 'plain',
      data: names,
      itemWidth: 16,
      itemHeight: 9,
      itemGap: width < 600 ? 8 : 14,
      textStyle: { color: theme().text, fontSize: 12 },
    };
  }

  // How high a legend of these names stands at this width.
  function legendHeight(width, names) {
    let [rows, used] = [1, 0];
    for (const name of names) {
      const needs = 26 + 6.8 * name.length + (width < 600 ? 8 : 14);
      if (used + needs > width && used > 0) [rows, used] = [rows + 1, 0];
      used += needs;
    }
    return rows * 21 + 8;
  }

  function all(action) {
    for (const job of drawn.values()) action(job);
  }

  window.addEventListener('beforeprint', () => all(job => job.now()));

  return {
    theme,
    look,
    hue,
    whiskers,
    logAxis,
    categoryAxis,
    tip,
    describe,
    draw,
    legend,
    legendHeight,
    redrawAll: () => all(job => job.redraw(true)),
    drawAllNow: () => all(job => job.now()),
    count: () => drawn.size,
  };
})();
