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
# What stands in a closed shadow root is shown like any other text, but no script could read it.
NOTHING_CLOSED = """(() => {
  Element.prototype.attachShadow = new Proxy(Element.prototype.attachShadow, {apply: (attach, self, given) => {
    const [options, ...more] = given;
    const opened = options && options.mode === 'closed' ? Object.create(options, {mode: {value: 'open'}}) : options;
    return Reflect.apply(attach, self, given.length ? [opened, ...more] : given);
  }});
})();"""
# Every console message would be sent to us, and a page can write a great many. Two functions write nothing: pages run
# their work in the task that one gives back, and write to the console that the other does.
NOTHING_SAID = """(() => {
  const given = {createTask: console.createTask, context: () => console};
  for (const name of Object.keys(console)) if (typeof console[name] === 'function') console[name] = () => {};
  for (const name in given) if (given[name]) console[name] = given[name];
})();"""
# What a page reports to its server with a beacon is not sent, and each that the gate stops costs as much as a request.
NOTHING_REPORTED = """(() => {
  Navigator.prototype.sendBeacon = new Proxy(Navigator.prototype.sendBeacon, {apply: () => true});
})();"""
# What the page has put off for a moment: `page_idle.py` waits for it. A place in the code that puts off again and again
# (a poll, an animation) counts once, and intervals never end; one that calls off what it had put off counts anew. On a
# busy machine a timer fires long after its time, and the page has no idle moment: so what counts is that it came. Code
# of other sites (analytics, advertisements) is told apart by the addresses on the stack.
PENDING_TIMERS = "Symbol.for('timers that have not fired')"
TIMERS_NOTED = """(() => {
  if (window !== top) return;
  const longest = 3000, late = 100, most = 500;
  const pending = new Map(), places = new Set(), now = () => performance.now();
  const site = host => /^[\\d.]+$|^\\[/.test(host) ? host : host.split('.').slice(-2).join('.');
  const here = site(location.hostname);
  const isOwn = stack => {
    const hosts = [...stack.matchAll(/https?:\\/\\/([^\\/:\\s)]+|\\[[^\\]]+\\])/g)].map(([, host]) => host);
    return !hosts.length || hosts.some(host => site(host) === here);
  };
  const note = until => {
    if (pending.size >= most || places.size >= most) return null;
    const place = String(new Error().stack);
    if (places.has(place)) return null;
    places.add(place);
    return {until, place, own: isOwn(place)};
  };
  const putsOff = (kind, untilOf) => ({apply: (put, self, given) => {
    let noted = null, [act, ...more] = given;
    try {
      const until = untilOf(more[0], typeof act === 'function');
      noted = until && note(until);
      if (noted && typeof act === 'function') given = [function (...said) {
        noted.came = true;
        noted.until = now() + late;
        return Reflect.apply(act, this, said);
      }, ...more];
    } catch {}
    const id = Reflect.apply(put, self, given);
    if (noted) pending.set(kind + id, noted);
    return id;
  }});
  const callsOff = kind => ({apply: (call, self, given) => {
    const noted = pending.get(kind + given[0]);
    if (noted && !noted.came) {
      pending.delete(kind + given[0]);
      places.delete(noted.place);
    }
    return Reflect.apply(call, self, given);
  }});
  const ofTimer = (delay, tells) => !(+delay > longest) && (tells ? Infinity : now() + (+delay || 0) + late);
  window.setTimeout = new Proxy(setTimeout, putsOff('timer ', ofTimer));
  window.clearTimeout = new Proxy(clearTimeout, callsOff('timer '));
  window.requestIdleCallback = new Proxy(requestIdleCallback, putsOff('idle ', (_, tells) => tells && Infinity));
  window.cancelIdleCallback = new Proxy(cancelIdleCallback, callsOff('idle '));
  Object.defineProperty(window, Symbol.for('timers that have not fired'), {value: isAnew => {
    if (isAnew) places.clear();
    const waiting = [...pending.values()].filter(one => one.until > now());
    return [waiting.filter(one => one.own).length, waiting.length];
  }});
})();"""
IN_EVERY_PAGE = "\n".join(
    (NOTHING_BEFORE, NOTHING_INSTEAD, NOTHING_AHEAD, NOTHING_CLOSED, NOTHING_SAID, NOTHING_REPORTED, TIMERS_NOTED)
)
