// Two pictures, one over the other: the slider says how much of the upper one is seen. Only attributes change.
"use strict";
(() => {
  const uncover = (slider) => {
    const cut = document.getElementById(slider.dataset.uncover);
    if (!cut) return;
    const width = (Number(cut.dataset.whole) * Number(slider.value)) / 100;
    cut.setAttribute("width", String(width));
    document.getElementById(`${cut.id}-edge`)?.setAttribute("d", `M${width} 0V${cut.getAttribute("height")}`);
  };
  document.addEventListener("input", (event) => {
    if (event.target instanceof HTMLInputElement && event.target.dataset.uncover) uncover(event.target);
  });
  for (const slider of document.querySelectorAll("[data-uncover]")) uncover(slider);
})();

// The difference of two pictures: what is the same is faded, what differs is marked. It is drawn here, where somebody
// looks: no server has to hold both.
(() => {
  const MOST_PIXELS = 8_000_000, CELL = 8, LEAST = 48, MARK = [214, 0, 110];
  const pixels = (picture, scale, width) => {
    const height = Math.max(1, Math.floor(picture.naturalHeight * scale));
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const drawing = canvas.getContext("2d", { willReadFrequently: true });
    drawing.fillStyle = "#fff";
    drawing.fillRect(0, 0, width, height);
    drawing.drawImage(picture, 0, 0, picture.naturalWidth * scale, picture.naturalHeight * scale);
    return { height, data: drawing.getImageData(0, 0, width, height).data };
  };
  const differs = (one, at, other, there) =>
    Math.abs(one[at] - other[there]) + Math.abs(one[at + 1] - other[there + 1]) + Math.abs(one[at + 2] - other[there + 2]) > LEAST;
  // Rows of pixels that each picture has once, by a number made of them.
  const single = ({ data, height }, width) => {
    const points = new Uint32Array(data.buffer), rows = new Map();
    for (let y = 0; y < height; y += 1) {
      let sum = 2166136261;
      for (let x = y * width; x < (y + 1) * width; x += 1) sum = Math.imul(sum ^ points[x], 16777619);
      rows.set(sum, rows.has(sum) ? -1 : y);
    }
    return rows;
  };
  // For each row of the newer picture, which row of the older one belongs to it: a line that came in moves all below it.
  const aligned = (old, now, width) => {
    const before = single(old, width), pairs = [];
    for (const [sum, y] of single(now, width)) if (y >= 0 && (before.get(sum) ?? -1) >= 0) pairs.push([before.get(sum), y]);
    const ends = [], earlier = new Int32Array(pairs.length).fill(-1);  // the longest run in which both go down the page
    pairs.forEach(([there], n) => {
      let low = 0, high = ends.length;
      while (low < high) { const middle = (low + high) >> 1; if (pairs[ends[middle]][0] < there) low = middle + 1; else high = middle; }
      if (low > 0) earlier[n] = ends[low - 1];
      ends[low] = n;
    });
    const rows = new Int32Array(now.height), kept = new Map();
    for (let n = ends.at(-1) ?? -1; n >= 0; n = earlier[n]) kept.set(pairs[n][1], pairs[n][0]);
    for (let y = 0, moved = 0; y < now.height; y += 1) {
      if (kept.has(y)) moved = kept.get(y) - y;
      rows[y] = y + moved;
    }
    return rows;
  };
  const show = (canvas, before, after) => {
    const widest = Math.max(before.naturalWidth, after.naturalWidth), highest = Math.max(before.naturalHeight, after.naturalHeight);
    const scale = Math.min(1, Math.sqrt(MOST_PIXELS / (widest * highest)));
    const width = Math.max(1, Math.floor(widest * scale));
    const old = pixels(before, scale, width), now = pixels(after, scale, width), rows = aligned(old, now, width);
    const across = Math.ceil(width / CELL), cells = new Uint8Array(across * Math.ceil(now.height / CELL));
    for (let y = 0; y < now.height; y += 1) {
      const row = Math.floor(y / CELL) * across;
      if (y > 0 && rows[y] > rows[y - 1] + 1) cells.fill(1, row, row + across);  // something was here
      for (let x = 0; x < width; x += 1) {
        if (rows[y] < 0 || rows[y] >= old.height || differs(now.data, (y * width + x) * 4, old.data, (rows[y] * width + x) * 4)) cells[row + Math.floor(x / CELL)] = 1;
      }
    }
    if (rows[now.height - 1] < old.height - 1) cells.fill(1, cells.length - across);
    const shown = new ImageData(width, now.height);
    for (let y = 0; y < now.height; y += 1) {
      for (let x = 0; x < width; x += 1) {
        const at = (y * width + x) * 4, grey = (now.data[at] + now.data[at + 1] + now.data[at + 2]) / 3;
        const marked = cells[Math.floor(y / CELL) * across + Math.floor(x / CELL)];
        for (let part = 0; part < 3; part += 1) shown.data[at + part] = marked ? now.data[at + part] * 0.65 + MARK[part] * 0.35 : 175 + grey * 0.31;
        shown.data[at + 3] = 255;
      }
    }
    Object.assign(canvas, { width, height: now.height });
    canvas.getContext("2d").putImageData(shown, 0, 0);
    const share = cells.reduce((sum, one) => sum + one, 0) / cells.length;
    const words = share ? `${share < 0.01 ? "less than 1" : Math.round(share * 100)} % of the picture` : "none, the pictures look the same";
    canvas.setAttribute("aria-label", `Difference: ${words}`);
    canvas.closest("figure").querySelector("[data-said]").textContent = `: ${words}`;
  };
  for (const canvas of document.querySelectorAll("canvas[data-difference]")) {
    const [before, after] = document.querySelectorAll(canvas.dataset.difference);
    const loaded = (picture) => (picture.complete ? Promise.resolve() : new Promise((done) => picture.addEventListener("load", done, { once: true })));
    Promise.all([loaded(before), loaded(after)]).then(() => {
      if (before.naturalWidth && after.naturalWidth) show(canvas, before, after);
    });
  }
})();
