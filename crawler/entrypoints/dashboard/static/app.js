// What every page does: theme, toasts, confirmations, times that go on. Pages work without it.
"use strict";
(() => {
  // -- theme -------------------------------------------------------------------------------
  const root = document.documentElement;
  const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemIsDark.matches);
  document.querySelector("[data-theme-toggle]")?.addEventListener("click", () => {
    const wanted = isDark() ? "light" : "dark";
    const asSystem = (wanted === "dark") === systemIsDark.matches;
    if (asSystem) delete root.dataset.theme; else root.dataset.theme = wanted;
    try { asSystem ? localStorage.removeItem("theme") : localStorage.setItem("theme", wanted); } catch { /* not kept */ }
    dispatchEvent(new Event("theme"));
  });
  systemIsDark.addEventListener("change", () => dispatchEvent(new Event("theme")));

  // -- ways: where somebody is can be seen, also where not all ways fit ------------------------
  for (const here of document.querySelectorAll("nav.main [aria-current], nav.tabs [aria-current]")) {
    const bar = here.closest("nav");
    bar.scrollLeft = here.offsetLeft - bar.offsetLeft - (bar.clientWidth - here.offsetWidth) / 2;
  }
  for (const bar of document.querySelectorAll("nav.main, nav.tabs")) {  // an edge that fades says that there is more
    const tell = () => {
      bar.classList.toggle("more-before", bar.scrollLeft > 4);
      bar.classList.toggle("more-after", bar.scrollLeft + bar.clientWidth < bar.scrollWidth - 4);
    };
    bar.addEventListener("scroll", tell, { passive: true });
    addEventListener("resize", tell);
    tell();
  }

  // -- toasts ------------------------------------------------------------------------------
  const seen = new WeakSet();
  const tendToasts = () => {
    for (const toast of document.querySelectorAll("[data-toast]")) {
      if (seen.has(toast) || !toast.isConnected) continue;
      seen.add(toast);
      for (const other of document.querySelectorAll("[data-toast]")) {  // the same again is said once
        if (other !== toast && other.textContent.trim() === toast.textContent.trim()) other.remove();
      }
      toast.querySelector("[data-dismiss]")?.addEventListener("click", () => toast.remove());
      if (!toast.classList.contains("bad")) setTimeout(() => toast.matches(":hover, :focus-within") || toast.remove(), 6000);
    }
  };
  tendToasts();
  new MutationObserver(tendToasts).observe(document.getElementById("toasts"), { childList: true });
  const here = new URL(location.href);
  if (here.searchParams.has("said")) {  // said once, not at every reload
    here.searchParams.delete("said");
    here.searchParams.delete("n");
    history.replaceState(null, "", here);
  }

  // -- what is asked again and again is asked no more once it is gone: another element in its place has no clock
  document.addEventListener("htmx:responseError", (event) => {
    const asking = event.detail.elt;
    if (event.detail.xhr.status !== 404 || !asking.getAttribute?.("hx-trigger")?.includes("every")) return;
    const still = asking.cloneNode(true);
    still.removeAttribute("hx-get");
    still.removeAttribute("hx-trigger");
    asking.replaceWith(still);
  });

  // -- confirmations -----------------------------------------------------------------------
  const dialog = document.getElementById("confirm");
  let waiting = null;
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.dataset.confirm || form === waiting) return;
    event.preventDefault();
    waiting = form;
    document.getElementById("confirm-words").textContent = form.dataset.confirm;
    dialog.querySelector("[data-yes]").textContent = form.dataset.yes || form.querySelector("button")?.textContent.trim() || "Yes";
    dialog.returnValue = "no";
    dialog.showModal();
  });
  dialog?.addEventListener("close", () => {
    const form = waiting;
    if (form && dialog.returnValue === "yes") {
      if (!form.isConnected) { form.hidden = true; document.body.append(form); }  // its place was refreshed meanwhile
      form.requestSubmit();
    }
    waiting = null;
  });
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.menu[open]")) { menu.open = false; menu.querySelector("summary").focus(); }
  });

  // -- times -------------------------------------------------------------------------------
  const span = (seconds) => {
    for (const [unit, length, least] of [["day", 86400, 172800], ["h", 3600, 5400], ["min", 60, 60], ["s", 1, 10]]) {
      if (seconds >= least) {
        const count = Math.round(seconds / length);
        return unit === "day" ? `${count} day${count === 1 ? "" : "s"}` : `${count} ${unit}`;
      }
    }
    return null;
  };
  const ago = (moment) => {
    const seconds = (Date.now() - moment) / 1000;
    const said = span(Math.abs(seconds));
    if (said === null) return seconds >= 0 ? "just now" : "in a moment";
    return seconds >= 0 ? `${said} ago` : `in ${said}`;
  };
  const tellTimes = () => {
    for (const time of document.querySelectorAll("time[data-ago]")) {
      const moment = new Date(time.dateTime);
      const words = ago(moment.getTime());
      if (time.textContent !== words) time.textContent = words;
      if (!time.dataset.local) {
        time.dataset.local = "1";
        time.title = `${moment.toLocaleString()} (${time.title})`;
      }
    }
  };
  tellTimes();
  setInterval(tellTimes, 15000);
  document.addEventListener("htmx:afterSwap", tellTimes);

  // -- what was typed outlives a session: kept while a form is sent, filled in again after the sign-in ----------
  const store = { get: (key) => { try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; } },
    set: (key, value) => { try { sessionStorage.setItem(key, JSON.stringify(value)); } catch { /* not kept */ } },
    drop: (key) => { try { sessionStorage.removeItem(key); } catch { /* nothing there */ } } };
  const draftKey = `draft:${location.pathname}`;
  const isKept = (field) => field.name && !["hidden", "password", "file", "submit", "button"].includes(field.type);
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || form.classList.contains("act") || form.id === "sign-in") return;
    const fields = [...form.elements].filter(isKept).map((field) => [field.name, field.type === "checkbox" || field.type === "radio" ? [field.value, field.checked] : field.value]);
    if (fields.length) store.set(draftKey, { action: form.getAttribute("action"), fields });
  });
  const draft = store.get(draftKey);
  let cameFrom = "";
  try { cameFrom = document.referrer ? new URL(document.referrer).pathname : ""; } catch { /* none */ }
  if (draft && cameFrom === "/login") {
    const form = [...document.forms].find((one) => one.getAttribute("action") === draft.action);
    if (form) {
      for (const [name, value] of draft.fields) {
        for (const field of form.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
          if (Array.isArray(value)) { if (field.value === value[0]) field.checked = value[1]; } else field.value = value;
        }
      }
      const toast = document.createElement("div"), words = document.createElement("p");
      toast.className = "toast"; toast.dataset.toast = "";
      words.textContent = "You were signed out. What you typed is here again; it is not saved yet.";
      toast.append(words);
      document.getElementById("toasts").append(toast);
    }
  }
  if (location.pathname !== "/login") store.drop(draftKey);

  // -- Back restores a list's length and place -----------------------------------------------
  const listKey = `list:${location.pathname}${location.search}`;
  let grown = 0;
  document.addEventListener("htmx:beforeRequest", (event) => {  // afterwards the button is gone
    if (event.detail.elt.closest?.("tr.more, .more-entries, .more-pages")) grown += 1;
  });
  addEventListener("pagehide", () => store.set(listKey, { grown, y: scrollY }));
  const place = store.get(listKey);
  if (place && performance.getEntriesByType("navigation")[0]?.type === "back_forward") {
    const grow = (left) => {
      const more = left > 0 ? document.querySelector("tr.more a[hx-get], .more-entries a[hx-get], .more-pages a[hx-get]") : null;
      if (!more) { scrollTo(0, place.y); return; }
      document.addEventListener("htmx:afterSettle", () => grow(left - 1), { once: true });
      more.click();
    };
    addEventListener("load", () => grow(Math.min(place.grown, 20)));
  }

  // -- a URL that is shown shortened is copied whole -------------------------------------------
  document.addEventListener("copy", (event) => {
    const chosen = getSelection(), cut = chosen?.anchorNode?.parentElement?.closest("[data-whole]");
    if (!cut || !cut.contains(chosen.focusNode) || chosen.toString().trim() !== cut.textContent.trim()) return;
    event.clipboardData.setData("text/plain", cut.dataset.whole);
    event.preventDefault();
  });
  for (const field of document.querySelectorAll("[data-select]")) field.addEventListener("focus", () => field.select());

  // -- keys ------------------------------------------------------------------------------------
  const palette = document.getElementById("palette"), finder = document.getElementById("palette-find");
  const keysHelp = document.getElementById("keys-help");
  const openPalette = () => {
    if (!palette || palette.open) return;
    palette.showModal();
    finder.select();
    finder.dispatchEvent(new Event("input", { bubbles: true }));
  };
  document.querySelector("[data-palette]")?.addEventListener("click", openPalette);
  palette?.addEventListener("keydown", (event) => {
    const links = [...palette.querySelectorAll("a")], at = links.indexOf(document.activeElement);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next = at + (event.key === "ArrowDown" ? 1 : -1);
      (next < 0 ? finder : links[Math.min(next, links.length - 1)])?.focus();
    } else if (event.key === "Escape") {  // a search field would only be emptied
      event.preventDefault();
      palette.close();
    } else if (event.key === "Enter" && document.activeElement === finder) {
      event.preventDefault();
      links[0]?.click();
    }
  });
  const STOPS = ".entry, .edits > li, .changed-pages > li";
  const move = (by) => {
    const stops = [...document.querySelectorAll(STOPS)];
    if (!stops.length) return;
    const here = document.activeElement?.closest?.(STOPS);
    const at = here ? stops.indexOf(here) + by : by > 0 ? 0 : stops.length - 1;
    const stop = stops[Math.max(0, Math.min(at, stops.length - 1))];
    stop.tabIndex = -1;
    stop.focus({ preventScroll: true });
    stop.scrollIntoView({ block: "center" });
  };
  const within = (selector) => document.activeElement?.closest?.(STOPS)?.querySelector(selector)?.click();
  const KEYS = {
    "/": openPalette,
    "?": () => keysHelp?.showModal(),
    j: () => move(1), k: () => move(-1),
    o: () => within("a"), r: () => within("[data-read]"), a: () => within("[data-accept]"),
    n: () => document.querySelector("[data-older]")?.click(), p: () => document.querySelector("[data-newer]")?.click(),
    h: () => { location.href = "/"; },
  };
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); openPalette(); return; }
    const typing = event.target.closest?.("input, textarea, select, [contenteditable], dialog");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key)) return;
    event.preventDefault();
    KEYS[event.key]();
  });
})();
