"""The document with what stands in its shadow roots, as a reader sees both: each root instead of its element's content.

Styles of a root are left out, and slots are replaced by what was put into them, or by what stands there otherwise.
Written here instead of by crawl4ai, whose script writes text without escaping it: where a page explains markup, such
text became markup, and what followed was lost.
"""

HAS_ROOTS = "[...document.querySelectorAll('*')].some(element => element.shadowRoot)"
COMPOSED = """(() => {
  const empty = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));
  const raw = new Set('script style xmp iframe noembed noframes noscript'.split(' '));
  const signs = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'};
  const escape = text => text.replace(/[&<>"]/g, sign => signs[sign]);
  const wrote = [];
  // Ends of what is open, and nodes that are still to be written: a document may be too deep for calls in calls.
  const waiting = [{node: document.documentElement, root: false, raw: false}];
  const later = (nodes, root, isRaw) => {
    for (const node of [...nodes].reverse()) waiting.push({node, root, raw: isRaw});
  };
  while (waiting.length) {
    const one = waiting.pop();
    if (typeof one === 'string') { wrote.push(one); continue; }
    const {node, root} = one;
    if (node.nodeType === Node.TEXT_NODE) { wrote.push(one.raw ? node.data : escape(node.data)); continue; }
    if (node.nodeType !== Node.ELEMENT_NODE) continue;
    const tag = node.tagName.toLowerCase();
    if (root && tag === 'style') continue;
    if (root && tag === 'slot') {
      const given = node.assignedNodes({flatten: true});
      later(given.length ? given : node.childNodes, !given.length, false);
      continue;
    }
    const attributes = [...node.attributes].map(({name, value}) => ` ${name}="${escape(value)}"`).join('');
    wrote.push(`<${tag}${attributes}>`);
    if (empty.has(tag)) continue;
    waiting.push(`</${tag}>`);
    later((node.shadowRoot || node).childNodes, !!node.shadowRoot || root, raw.has(tag));
  }
  return wrote.join('');
})()"""
