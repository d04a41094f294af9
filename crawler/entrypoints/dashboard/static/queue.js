// Choosing entries: all that are shown with one tick, and what is chosen in words. Without it single ticks work.
"use strict";
(() => {
  const form = document.getElementById("bulk");
  const all = document.getElementById("all");
  if (!form || !all) return;
  const these = document.getElementById("these");
  const said = document.getElementById("chosen");
  const boxes = () => [...form.querySelectorAll('input[name="id"]')];
  const tell = () => {
    const every = boxes(), ticked = every.filter((box) => box.checked).length;
    for (const box of every) box.disabled = all.checked;
    these.disabled = all.checked;
    these.checked = every.length > 0 && ticked === every.length;
    these.indeterminate = ticked > 0 && ticked < every.length;
    said.textContent = all.checked ? "All that match the filters, also those not shown."
      : ticked ? `${ticked} chosen` : "Tick entries below, or all that match.";
    for (const button of form.querySelectorAll('button[name="action"]')) button.disabled = !all.checked && !ticked;
  };
  these.hidden = false;
  these.addEventListener("change", () => { for (const box of boxes()) box.checked = these.checked; tell(); });
  form.addEventListener("change", tell);
  document.addEventListener("htmx:afterSwap", tell);
  addEventListener("pageshow", tell);
  tell();
})();
