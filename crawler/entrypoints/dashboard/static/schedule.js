// The schedule's page: a first schedule begins in the zone of whoever makes it; runs are drawn from their table.
"use strict";
(() => {
  const form = document.getElementById("schedule-form");
  const zone = document.getElementById("timezone");
  if (form?.hasAttribute("data-first") && zone?.value === "UTC") {
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if ([...document.querySelectorAll("#zones option")].some((option) => option.value === own)) {
      zone.value = own;
      addEventListener("load", () => zone.dispatchEvent(new Event("input", { bubbles: true })));
    }
  }
  const tellWrong = () => {
    for (const place of form?.querySelectorAll(".wrong[id]") ?? []) {
      for (const field of form.querySelectorAll(`[aria-describedby~="${place.id}"]`)) {
        if (place.childElementCount) field.setAttribute("aria-invalid", "true"); else field.removeAttribute("aria-invalid");
      }
    }
  };
  tellWrong();
  document.addEventListener("htmx:afterSettle", tellWrong);

  const plots = document.getElementById("history-plots");
  const rows = plots ? [...document.querySelectorAll(`#${plots.dataset.table} tr[data-at]`)].reverse() : [];
  if (rows.length < 2) return;
  plots.hidden = false;
  const days = (row) => new Date(row.dataset.at).toLocaleDateString([], { day: "numeric", month: "short" });
  const words = { pages: (n) => n, changes: (n) => n,
    seconds: (n) => (n < 60 ? `${+n.toFixed(1)} s` : n < 3600 ? `${Math.round(n / 60)} min` : `${(n / 3600).toFixed(1)} h`) };
  const draw = (name, colour) => {
    const element = document.getElementById(`plot-${name}`);
    const told = element.parentElement.querySelector("output");
    const values = rows.map((row) => (row.dataset[name] === undefined ? null : Number(row.dataset[name])));
    const say = (at) => {
      const row = rows[at ?? rows.length - 1], value = values[at ?? rows.length - 1];
      told.textContent = row && value !== null ? `${words[name](value)} · ${days(row)}` : "";
    };
    drawPlot(element, { bars: true, series: [{ label: name, colour, fill: true }], labels: rows.map(days), values: words[name], point: say })([rows.map((_, n) => n), values]);
    say(null);
  };
  draw("pages", "--accent");
  draw("changes", "--warn");
  draw("seconds", "--info");
})();
