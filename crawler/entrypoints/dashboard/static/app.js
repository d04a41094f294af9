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
})();
