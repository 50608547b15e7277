// Figures for people: three digits and a unit, as the lab's tables print them.
const units = (() => {
  const unknown = '–';

  function digits(value) {
    const size = Math.abs(value);
    return value === 0 ? '0' : size < 9.995 ? value.toFixed(2) : size < 99.95 ? value.toFixed(1) : value.toFixed(0);
  }

  function scaled(value, unit) {
    if (value == null) return unknown;
    const prefixes = ['', 'k', 'M', 'G', 'T'];
    let power = 0;
    while (Math.abs(value) >= 999.5 && power < prefixes.length - 1) {
      value /= 1000;
      power++;
    }
    return `${digits(value)} ${prefixes[power]}${unit}`;
  }

  function time(ns) {
    if (ns == null) return unknown;
    const size = Math.abs(ns);
    if (size < 999.5) return `${digits(ns)} ns`;
    if (size < 999.5e3) return `${digits(ns / 1e3)} µs`;
    return size < 999.5e6 ? `${digits(ns / 1e6)} ms` : `${digits(ns / 1e9)} s`;
  }

  // Round figures on axes and of sizes need no zeros behind the point.
  function plain(text) {
    return text.replace(/(\.\d*?)0+ /, '$1 ').replace('. ', ' ');
  }

  function tick(ns) {
    return plain(time(ns));
  }

  // "36.8 – 50.0 µs": the unit stands once where both ends have it.
  function interval(range, format) {
    if (!range) return unknown;
    const [low, high] = range.map(format);
    const at = low.lastIndexOf(' ');
    return at > 0 && high.endsWith(low.slice(at)) ? `${low.slice(0, at)} – ${high}` : `${low} – ${high}`;
  }

  return {
    unknown,
    time,
    tick,
    interval,
    rate: value => scaled(value, '/s'),
    rateTick: value => plain(scaled(value, '/s')),
    bytes: value => scaled(value, 'B'),
    bytesTick: value => plain(scaled(value, 'B')),
    ratio: value => (value == null ? unknown : `${digits(value)}\u00a0×`),
    count: value => (value == null ? unknown : value.toLocaleString('en')),
    percent: value => (value == null ? unknown : `${+(value * 100).toFixed(1)} %`),
  };
})();

/** An element with properties and children; text is always text, never markup, whatever a peer wrote into it. */
function element(name, properties, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value == null || value === false) continue;
    if (key in made && typeof value !== 'string') made[key] = value;
    else made.setAttribute(key === 'className' ? 'class' : key, value === true ? '' : value);
  }
  made.append(...children.flat(Infinity).filter(child => child != null));
  return made;
}

/** Says something to people who listen to the page instead of looking at it. */
function say(text) {
  document.getElementById('said').textContent = text;
}
