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
