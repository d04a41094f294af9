"""The script that finds boxes which hold only what is in view, and lets them hold all: see `rows_out_of_view.py`."""

import json

MAX_HEIGHT = 10_000
"""Some 400 rows. A browser draws more of them, but each costs time."""
_LIMITS = {"maxHeight": MAX_HEIGHT, "maxWidth": 5_000, "mostBoxes": 20, "mostKept": 3_000}

# In the world beside the page's. A box has a gap where it scrolls over a stretch without text and without pictures that
# is longer than those between the rows in view.
_SCRIPT = """(({maxHeight, maxWidth, mostBoxes, mostKept}) => {
  const boxGap = 50, pageGap = 200, mostElements = 20000, mostTexts = 6000;
  const drawn = 'img, video, canvas, iframe, object, embed, input, button, svg';
  const boxes = [], known = new Set(), styles = new Map(), undo = [];
  let left = [], page = null, hasMoreBoxes = false, isFull = false;

  // Elements, and with `texts` what is seen of them, also in shadow roots.
  const inside = function* (root, most, texts) {
    const kinds = texts ? NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT : NodeFilter.SHOW_ELEMENT;
    const waiting = [root];
    for (let seen = 0; waiting.length && seen < most;) {
      const walker = document.createTreeWalker(waiting.pop(), kinds);
      for (let one; seen < most && (one = walker.nextNode());) {
        if (one.shadowRoot) waiting.push(one.shadowRoot);
        if (texts && !(one.nodeType === Node.TEXT_NODE ? one.data.trim() : one.matches(drawn))) continue;
        seen++;
        yield one;
      }
    }
  };
  const range = document.createRange();
  const placeOf = node => {
    if (node.nodeType !== Node.TEXT_NODE) return node.getBoundingClientRect();
    range.selectNodeContents(node);
    return range.getBoundingClientRect();
  };
  const scroller = () => document.scrollingElement;
  const frameOf = box => box === scroller() ? {top: 0, left: 0} : box.getBoundingClientRect();
  // Where texts and pictures of the box begin and end, down and across, from where it begins to scroll.
  const spansOf = box => {
    const frame = frameOf(box), top = frame.top - box.scrollTop, start = frame.left - box.scrollLeft;
    const down = [], across = [];
    for (const node of inside(box, mostTexts, true)) {
      const place = placeOf(node);
      if (!place.height) continue;
      down.push([place.top - top, place.bottom - top]);
      across.push([place.left - start, place.right - start]);
    }
    for (const spans of [down, across]) spans.sort((one, other) => one[0] - other[0]);
    return {down, across};
  };
  // The widest stretch between two points on which nothing stands; where nothing stands at all nothing is held back.
  const widest = (spans, from, to) => {
    let at = from, size = 0, start = from;
    for (const [begin, end] of spans.length ? [...spans, [to, to]] : []) {
      const gap = Math.min(begin, to) - at;
      if (gap > size) [size, start] = [gap, at];
      at = Math.max(at, end);
    }
    return {size, start};
  };
  // The widest between the rows in view: those that are not there yet look like them.
  const usual = (spans, from, length) => {
    const seen = spans.filter(([begin, end]) => end > from && begin < from + length);
    const last = Math.max(...seen.map(([, end]) => end));
    return seen.length > 1 ? widest(seen, seen[0][0], Math.min(last, from + length)).size : 0;
  };
  const frame = () => new Promise(requestAnimationFrame);
  const chars = box => {
    let count = 0;
    for (const node of inside(box, mostTexts * 3, true)) count += node.data ? node.data.length : 0;
    return count;
  };
  const say = (part, names, value) => {
    if (!styles.has(part)) styles.set(part, part.getAttribute('style'));
    for (const name of names) part.style.setProperty(name, value, 'important');
  };
  const relax = parts => {
    for (const part of parts)
      if (styles.get(part) === null) part.removeAttribute('style'); else part.setAttribute('style', styles.get(part));
  };
  const boxOf = (box, isHigh, isWide, spans) => ({
    box, isHigh, isWide, stretched: [], holders: [], isDone: false,
    most: Math.max(boxGap, 1.5 * usual(spans.down, box.scrollTop, box.clientHeight)),
    mostAcross: Math.max(boxGap, 1.5 * usual(spans.across, box.scrollLeft, box.clientWidth)),
    height: box.scrollHeight, width: box.scrollWidth, chars: chars(box),
  });
  const candidate = box => {
    const isHigh = box.scrollHeight > box.clientHeight + boxGap, isWide = box.scrollWidth > box.clientWidth + boxGap;
    if (!(isHigh || isWide) || !box.clientHeight || box.matches('textarea, select') || box === scroller()) return null;
    const {overflowY, overflowX} = getComputedStyle(box), bar = /auto|scroll/;
    const high = isHigh && bar.test(overflowY), wide = isWide && bar.test(overflowX);
    if (!(high || wide) || !box.checkVisibility()) return null;
    const spans = spansOf(box), one = boxOf(box, high, wide, spans);
    one.isHigh = high && widest(spans.down, 0, box.scrollHeight).size > one.most;
    one.isWide = wide && widest(spans.across, 0, box.scrollWidth).size > one.mostAcross;
    return one.isHigh || one.isWide ? one : null;
  };
  const pageHeight = () => {
    const box = scroller(), height = box ? box.scrollHeight : 0;
    if (!(height > innerHeight + pageGap)) return 0;
    const {down} = spansOf(box);
    const most = Math.max(pageGap, 1.5 * usual(down, scrollY, innerHeight));
    return widest(down, 0, height).size > most ? height : 0;
  };
  const moves = ({isHigh}) => isHigh ? ['scrollTop', 'clientHeight', 'scrollHeight']
    : ['scrollLeft', 'clientWidth', 'scrollWidth'];
  const scroll = async (one, to) => {
    const [, seen, all] = moves(one);
    one.wanted = Math.max(0, Math.min(to, one.box[all] - one.box[seen]));
    one.box.scrollTo({[one.isHigh ? 'top' : 'left']: one.wanted, behavior: 'instant'});
    await frame();
    await frame();
  };

  globalThis.__rows = {
    // How tall the tab has to be for rows of the page itself, and how many boxes with gaps were found since last time.
    find() {
      let found = 0;
      if (!page && scroller()) page = boxOf(scroller(), true, false, spansOf(scroller()));
      for (const box of inside(document, mostElements, false)) {
        const one = known.has(box) ? null : candidate(box);
        if (one && boxes.length >= mostBoxes) { hasMoreBoxes = true; break; }
        known.add(box);
        if (one) { boxes.push(one); found++; }
      }
      return [pageHeight(), found];
    },
    // With the parents that are as high as the box: some pages measure those.
    async stretch() {
      for (const {box, isHigh, isWide, stretched} of boxes) {
        const height = Math.min(box.scrollHeight, maxHeight), width = Math.min(box.scrollWidth, maxWidth);
        const high = box.offsetHeight;
        const stretch = part => {
          stretched.push(part);
          if (isHigh) say(part, ['height', 'min-height', 'max-height'], height + 'px');
          if (isWide) say(part, ['width', 'min-width', 'max-width'], width + 'px');
          say(part, ['flex'], 'none');
        };
        stretch(box);
        let part = isHigh ? box.parentElement : null;
        for (let up = 0; part && part !== document.body && up < 4; part = part.parentElement, up++)
          if (part.offsetHeight && part.offsetHeight <= high + boxGap) stretch(part);
      }
      dispatchEvent(new Event('resize'));
      document.dispatchEvent(new Event('scroll', {bubbles: true}));
      for (const {box} of boxes) box.dispatchEvent(new Event('scroll'));
      await frame();
      await frame();
    },
    // Whether a box, or the page, is found to be higher now: heights of rows that were not seen are guesses.
    grew() {
      const isShort = ({box, isHigh, most}) => isHigh && box.scrollHeight > box.clientHeight + most
        && box.clientHeight < maxHeight - 1;
      return [boxes.some(isShort), pageHeight()];
    },
    // What came of it: whether the page or a box loads more when its end is seen, whether words came, whether there is
    // more than could be stretched to, and how many boxes still have gaps. Those are as they were.
    check(hasAsked, isTall) {
      const gone = one => {
        const spans = spansOf(one.box), {box} = one;
        return (one.isHigh && widest(spans.down, 0, Math.min(box.scrollHeight, maxHeight)).size > one.most)
          || (one.isWide && widest(spans.across, 0, Math.min(box.scrollWidth, maxWidth)).size > one.mostAcross);
      };
      const isFeed = hasAsked && [...boxes, ...(isTall ? [page] : [])].some(one =>
        one.isHigh && one.box.scrollHeight > one.height + boxGap && one.box.scrollHeight > one.box.clientHeight - 1
        && one.chars < chars(one.box));
      const words = boxes.filter(one => chars(one.box) > one.chars);
      left = boxes.filter(gone);
      for (const one of words) one.isDone = !left.includes(one);
      const used = new Set(boxes.filter(one => one.isDone).flatMap(({stretched}) => stretched));
      for (const one of boxes) if (!one.isDone) relax(one.stretched.filter(part => !used.has(part)));
      const isLonger = hasMoreBoxes || boxes.some(({box, isDone}) => isDone
        && (box.scrollHeight > maxHeight + 1 || box.scrollWidth > maxWidth + 1));
      if (left.length) dispatchEvent(new Event('resize'));
      const hasPage = isTall && chars(page.box) > page.chars && !words.length;
      return [isFeed, hasPage || boxes.some(({isDone}) => isDone), isLonger, left.length];
    },
    // The page itself is gone through as a box is.
    withPage: () => left.push(page),
    // What changes when the box is scrolled is what holds the rows.
    begin(number) {
      const one = left[number], {box} = one, [, , all] = moves(one), spans = spansOf(box);
      say(box, ['scroll-behavior'], 'auto');
      say(box, ['scroll-snap-type'], 'none');
      one.changed = [];
      one.watch = new MutationObserver(records => { one.changed = one.changed.concat(records).slice(0, 5000); });
      one.watch.observe(box, {subtree: true, childList: true, characterData: true});
      return scroll(one, widest(one.isHigh ? spans.down : spans.across, 0, box[all]).start);
    },
    // Returns how many elements hold rows; none if nothing came where the box was scrolled to: then it may be empty.
    async holders(number) {
      const one = left[number], {box} = one, [at, seen, all] = moves(one), holders = new Set();
      const spans = one.isHigh ? spansOf(box).down : spansOf(box).across, to = Math.min(box[at] + box[seen], box[all]);
      if (widest(spans, box[at], to).size > (one.isHigh ? one.most : one.mostAcross)) one.changed = [];
      const alike = part => [...part.parentElement.children].filter(other => other.localName === part.localName);
      const holderOf = node => {
        let part = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
        for (; part && part !== box; part = part.parentElement)
          if (part.parentElement && alike(part).length >= 3) return part.parentElement;
        return null;
      };
      one.watch.disconnect();
      for (const {type, target, addedNodes} of one.changed) {
        const isHolder = type === 'childList' && [...addedNodes].some(node => node.nodeType === Node.ELEMENT_NODE);
        const holder = isHolder ? target : holderOf(target);
        if (holder && holders.size < 20) holders.add(holder);
      }
      const others = holder => [...holders].filter(other => other !== holder);
      const isPart = holder => others(holder).some(other => other.contains(holder) && other.children.length >= 3);
      const isFrame = holder => holder.children.length < 3 && others(holder).some(other => holder.contains(other));
      for (const holder of holders)
        if (!isPart(holder) && !isFrame(holder)) one.holders.push({holder, kept: new Map(), texts: new Map()});
      await scroll(one, 0);
      return one.holders.length;
    },
    // Copies the rows, by their places; one that has moved by less than its size since is the same. Returns whether all
    // that is in view was there, whether the box goes on, and whether there was room for all.
    keep(number, isAgain) {
      const one = left[number], {box, holders} = one, frame = frameOf(box), [at, seen, all] = moves(one);
      const spans = one.isHigh ? spansOf(box).down : spansOf(box).across, most = one.isHigh ? one.most : one.mostAcross;
      const from = box[at], to = Math.min(from + box[seen], box[all]);
      if (Math.abs(from - one.wanted) > 2 || widest(spans, from, to).size > most) return [false, false, true];
      let differs = false;
      for (const {holder, kept, texts} of holders)
        for (const row of holder.children) {
          const {top, left: start, height, width} = row.getBoundingClientRect(), text = row.textContent.trim();
          if (!height || !text) continue;
          const down = Math.round(top - frame.top + box.scrollTop);
          const across = Math.round(start - frame.left + box.scrollLeft), key = down + ' ' + across;
          const [where, beside, size] = one.isHigh ? [down, across, height] : [across, down, width];
          if (where >= to || where + size <= from) continue;
          if (isAgain) { differs ||= kept.has(key) && kept.get(key)[2].textContent.trim() !== text; continue; }
          if (kept.size >= mostKept && !kept.has(key)) isFull = true;
          else if (!(Math.abs(texts.get(beside + text) - where) < size)) {
            kept.set(key, [where, beside, row.cloneNode(true)]);
            texts.set(beside + text, where);
          }
        }
      return [!differs, to < box[all] - 1, !isFull];
    },
    on(number) {
      const one = left[number], [, seen] = moves(one);
      return scroll(one, one.wanted + Math.round(one.box[seen] * 0.9));
    },
    back: number => scroll(left[number], Math.round(left[number].wanted / 2)),
    async end(number, isDone) {
      left[number].isDone = isDone;
      if (!isDone) left[number].holders = [];
      await scroll(left[number], 0);
    },
    // While the document is read, the rows are in it, and nothing tells that boxes were stretched.
    beforeReading() {
      relax(styles.keys());
      const done = [...boxes, page].filter(one => one?.isDone);
      for (const {holder, kept} of done.flatMap(({holders}) => holders)) {
        if (!holder.isConnected || !kept.size) continue;
        undo.push([holder, [...holder.childNodes]]);
        const copies = [...kept.values()].sort((one, other) => one[0] - other[0] || one[1] - other[1]);
        holder.replaceChildren(...copies.map(([, , copy]) => copy));
      }
    },
    afterReading() {
      relax(styles.keys());
      for (const [holder, nodes] of undo) holder.replaceChildren(...nodes);
      delete globalThis.__rows;
    },
  };
  return globalThis.__rows.find();
})"""
FIND = f"globalThis.__rows ? globalThis.__rows.find() : {_SCRIPT}({json.dumps(_LIMITS)})"
STRETCH, GREW, WITH_PAGE, BEFORE_READING, AFTER_READING = (
    f"globalThis.__rows?.{name}()" for name in ("stretch", "grew", "withPage", "beforeReading", "afterReading")
)
CHECK = "globalThis.__rows?.check(%s, %s)"
BEGIN, HOLDERS, KEEP, AGAIN, ON, BACK, DONE, FAILED = (
    f"globalThis.__rows?.{name}"
    for name in (
        "begin(%d)", "holders(%d)", "keep(%d, false)", "keep(%d, true)", "on(%d)", "back(%d)", "end(%d, true)",
        "end(%d, false)",
    )
)  # fmt: skip
