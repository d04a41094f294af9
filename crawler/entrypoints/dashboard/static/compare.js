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

// The difference of two pictures: what is the same is faded, what differs is marked. It is made here, where somebody
// looks, of pictures that were made small first: no server has to hold them.
(() => {
  const WIDEST = 900, MOST_PIXELS = 4_000_000, CELL = 8, LEAST = 48, MARK = [214, 0, 110];
  const pixels = (picture, scale, width) => {
    const height = Math.max(1, Math.round(picture.naturalHeight * scale));
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const drawing = canvas.getContext("2d", { willReadFrequently: true });
    drawing.fillStyle = "#fff";
    drawing.fillRect(0, 0, width, height);
    drawing.drawImage(picture, 0, 0, Math.max(1, Math.round(picture.naturalWidth * scale)), height);
    return { height, data: drawing.getImageData(0, 0, width, height).data };
  };
  const differs = (one, at, other, there) =>
    Math.abs(one[at] - other[there]) + Math.abs(one[at + 1] - other[there + 1]) + Math.abs(one[at + 2] - other[there + 2]) > LEAST;
  const sameRow = (one, y, other, there, width) => {
    for (let x = 0; x < width; x += 1) if (differs(one.data, (y * width + x) * 4, other.data, (there * width + x) * 4)) return false;
    return true;
  };
  const show = (canvas, before, after) => {
    const widest = Math.max(before.naturalWidth, after.naturalWidth), highest = Math.max(before.naturalHeight, after.naturalHeight);
    const scale = Math.min(1, WIDEST / widest, Math.sqrt(MOST_PIXELS / (widest * highest)));
    const width = Math.max(1, Math.round(widest * scale));
    const old = pixels(before, scale, width), now = pixels(after, scale, width);
    const shorter = Math.min(old.height, now.height);
    let top = 0, bottom = 0;  // a line that came in moves all below it: what is the same from either end is the same
    while (top < shorter && sameRow(old, top, now, top, width)) top += 1;
    while (bottom < shorter - top && sameRow(old, old.height - 1 - bottom, now, now.height - 1 - bottom, width)) bottom += 1;
    const across = Math.ceil(width / CELL), cells = new Uint8Array(across * Math.ceil(now.height / CELL));
    for (let y = top; y < now.height - bottom; y += 1) {
      for (let x = 0; x < width; x += 1) {
        const at = (y * width + x) * 4;
        if (y >= old.height - bottom || differs(now.data, at, old.data, at)) cells[Math.floor(y / CELL) * across + Math.floor(x / CELL)] = 1;
      }
    }
    if (old.height > now.height && top < now.height) cells.fill(1, Math.floor(top / CELL) * across, Math.floor(top / CELL) * across + across);
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
    const words = share ? `${share < 0.01 ? "Less than 1" : Math.round(share * 100)} % of the picture differs.` : "The pictures look the same.";
    canvas.setAttribute("aria-label", `The difference. ${words}`);
    canvas.closest("figure").querySelector("[data-said]").textContent = words;
  };
  for (const canvas of document.querySelectorAll("canvas[data-difference]")) {
    const [before, after] = document.querySelectorAll(canvas.dataset.difference);
    const loaded = (picture) => (picture.complete ? Promise.resolve() : new Promise((done) => picture.addEventListener("load", done, { once: true })));
    Promise.all([loaded(before), loaded(after)]).then(() => {
      if (before.naturalWidth && after.naturalWidth) show(canvas, before, after);
    });
  }
})();
