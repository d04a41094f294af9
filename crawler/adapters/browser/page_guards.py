"""Scripts that run in every page before its own scripts, so that ordinary pages can be rendered.

What a hostile page can undo here is still stopped by the request gate and the egress proxy.
"""

# A tab begins with an empty document in its history. In a person's browser nothing comes before the page either.
NOTHING_BEFORE = """(() => {
  const {go} = History.prototype, visited = navigation;
  let asked = 0;  // steps back that are still to be taken
  visited.addEventListener('currententrychange', () => { asked = 0; });
  History.prototype.go = function (steps = 0) {
    const at = (visited.currentEntry ? visited.currentEntry.index : 0) - asked;
    if (at + Number(steps) < 0) return;
    asked += Math.max(0, -steps);
    go.call(this, steps);
  };
  History.prototype.back = function () { this.go(-1); };
})();"""
# A navigation to `about:` would replace the page by an empty document, and no request announces that.
NOTHING_INSTEAD = """(() => {
  if (window === top) navigation.addEventListener('navigate', event => {
    if (event.cancelable && event.destination.url.startsWith('about:')) event.preventDefault();
  });
})();"""
# Prerender and prefetch rules: the browser would send these requests past the gate, which sees the tab only. The
# observer runs before such a script counts: at its end tag, or before the current rules are put together.
NOTHING_AHEAD = """(() => {
  new MutationObserver(() => {
    for (const rules of document.querySelectorAll("script[type='speculationrules' i]")) rules.remove();
  }).observe(document, {childList: true, subtree: true});
})();"""
# Every console message would be sent to us, and a page can write a great many.
NOTHING_SAID = """(() => {
  for (const name of Object.keys(console)) if (typeof console[name] === 'function') console[name] = () => {};
})();"""
IN_EVERY_PAGE = "\n".join((NOTHING_BEFORE, NOTHING_INSTEAD, NOTHING_AHEAD, NOTHING_SAID))
