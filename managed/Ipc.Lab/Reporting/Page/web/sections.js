// Sections register themselves in the order of their files; each draws its own body when something it shows has changed.
const sections = [];

/**
 * draw(body, changed): changed is null the first time and after a reset, else the keys of the choices that changed.
 * `short` is its name in the contents, where the title would be too long.
 */
function section(id, title, draw, short = title) {
  sections.push({ id, title, draw, short });
}

function buildSections() {
  const main = document.getElementById('sections');
  main.replaceChildren();
  for (const s of sections) {
    s.body = element('div');
    main.append(element('section', { id: s.id, 'aria-labelledby': `${s.id}-title` }, element('h2', { id: `${s.id}-title` }, s.title), s.body));
  }
}

// Choices of the cell table concern it alone.
function drawSections(changed) {
  const ofTableOnly = changed?.every(key => key.startsWith('in-') || ['find', 'sort', 'order'].includes(key));
  for (const s of sections) if (!ofTableOnly || s.id === 'cells') s.draw(s.body, changed);
  document
    .getElementById('contents')
    .replaceChildren(
      ...sections.filter(s => !s.body.parentElement.hidden).map(s => element('li', null, element('a', { href: `#${s.id}` }, s.short))),
    );
}
