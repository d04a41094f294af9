// The browser's time zone goes with what is started; services explain what they need; projects are ticked together.
"use strict";
(() => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const explain = (list) => {
    const chosen = list.selectedOptions[0], field = document.getElementById("channel");
    field.placeholder = chosen.dataset.example;
    document.getElementById("channel-help").textContent = chosen.dataset.help;
  };
  const fill = () => {
    for (const field of document.querySelectorAll("[data-zone]")) if (zone) field.value = zone;
    for (const list of document.querySelectorAll("[data-presets]")) explain(list);
  };
  fill();
  document.addEventListener("htmx:afterSwap", fill);
  document.addEventListener("change", (event) => { if (event.target.matches?.("[data-presets]")) explain(event.target); });

  document.addEventListener("unread", (event) => {
    const { all, project, own } = event.detail;
    for (const [name, count] of [["all", all], [project, own]]) {
      const place = document.querySelector(`[data-unread="${CSS.escape(name)}"]`);
      if (!place) continue;
      place.hidden = !count;
      const words = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
      for (let text = words.nextNode(); text; text = words.nextNode()) if (/unread/.test(text.data)) text.data = `${count > 99 ? "99+" : count} unread`;
    }
    document.title = document.title.replace(/^\(\d+\) /, "").replace(/^/, all ? `(${all}) ` : "");
  });

  const form = document.getElementById("bulk");
  const bar = form?.querySelector(".bulk");
  if (!bar) return;
  const these = document.getElementById("these");
  const said = document.getElementById("chosen");
  const boxes = () => [...form.querySelectorAll('input[name="id"]')];
  const tell = () => {
    const every = boxes(), ticked = every.filter((box) => box.checked).length;
    these.checked = every.length > 0 && ticked === every.length;
    these.indeterminate = ticked > 0 && ticked < every.length;
    said.textContent = ticked ? `${ticked} ticked` : "Tick projects to change several at once.";
    bar.toggleAttribute("data-idle", !ticked);
  };
  these.hidden = false;
  these.addEventListener("change", () => { for (const box of boxes()) box.checked = these.checked; tell(); });
  form.addEventListener("change", tell);
  document.addEventListener("htmx:afterSwap", tell);
  addEventListener("pageshow", tell);
  tell();
})();
