"""Scripts that run in every page before its own. They make ordinary pages behave; what a hostile page can undo here is
held by the gate and the proxy.
"""

# A tab begins with an empty document. In a browser of one's own nothing stands before the page either.
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
# An empty document would take the page's place, and no request announces it.
NOTHING_INSTEAD = """(() => {
  if (window === top) navigation.addEventListener('navigate', event => {
    if (event.cancelable && event.destination.url.startsWith('about:')) event.preventDefault();
  });
})();"""
# Pages loaded ahead of a click that never comes: the browser would ask for them past the gate, which sees the tab only.
# An observer runs before such a script counts: at its end tag, or before the rules of the moment are put together.
NOTHING_AHEAD = """(() => {
  new MutationObserver(() => {
    for (const rules of document.querySelectorAll("script[type='speculationrules' i]")) rules.remove();
  }).observe(document, {childList: true, subtree: true});
})();"""
# Every word would be sent to us, and a page can say a great many.
NOTHING_SAID = """(() => {
  for (const name of Object.keys(console)) if (typeof console[name] === 'function') console[name] = () => {};
})();"""
IN_EVERY_PAGE = "\n".join((NOTHING_BEFORE, NOTHING_INSTEAD, NOTHING_AHEAD, NOTHING_SAID))
