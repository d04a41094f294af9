// A crawl while it happens. Events are only counted when they come; the page is touched twice a second, whatever comes.
"use strict";
(() => {
  const live = document.getElementById("live");
  if (!live) return;
  const { project, crawl, host } = live.dataset;
  const reasons = JSON.parse(live.dataset.reasons);
  const FLUSH_MS = 500, ROWS = 25, RATE_SECONDS = 5, KEPT_SECONDS = 600;
  const ANSWERS = { 200: "OK", 204: "No content", 301: "Moved", 302: "Found", 303: "See other", 304: "Not modified",
    307: "Redirect", 308: "Redirect", 400: "Bad request", 401: "Login wanted", 403: "Forbidden", 404: "Not found",
    410: "Gone", 429: "Too many requests", 500: "Server error", 502: "Bad gateway", 503: "Not now", 504: "Timeout",
    none: "No answer" };

  // -- what is known -----------------------------------------------------------------------
  let seen = live.dataset.seen ? Number(live.dataset.seen) : null;
  let over = "over" in live.dataset;
  let progress = null;
  let fresh = [];                       // pages since the last flush, newest last
  const answers = new Map();
  const done = new Map();               // second -> pages stored
  const failed = new Map();
  let step = 1;
  let dirty = false;

  const count = (map, key, by = 1) => map.set(key, (map.get(key) || 0) + by);
  const number = (value) => Math.floor(value).toLocaleString("en-US");

  const take = (event) => {
    if (event.seq) seen = event.seq;
    if (event.type === "gap") { catchUp(); refresh(); return; }
    if (event.crawl_id !== crawl) return;
    if (event.type === "page") {
      const page = event.data, second = Math.floor(Date.parse(event.at) / 1000);
      fresh.push(page);
      if (fresh.length > 4 * ROWS) fresh = fresh.slice(-ROWS);
      if (page.http_status || page.status === "failed") count(answers, String(page.http_status || "none"));
      if (page.status === "success") count(done, second);
      else if (page.status === "failed") count(failed, second);
    } else if (event.type === "progress") {
      progress = event.data;
    } else if (event.type === "status") {
      refresh();
    } else if (event.type === "completed") {
      end();
    }
    dirty = true;
  };

  // -- showing it --------------------------------------------------------------------------
  const write = (name, text) => {
    const place = document.querySelector(`[data-live="${name}"]`);
    if (place && place.textContent !== text) place.textContent = text;
  };
  const rate = () => {
    const now = Math.floor(Date.now() / 1000);
    let pages = 0;
    for (let second = now - RATE_SECONDS; second < now; second++) pages += done.get(second) || 0;
    return pages / RATE_SECONDS;
  };
  const clock = (seconds) => {
    const whole = Math.max(0, Math.floor(seconds));
    if (whole < 60) return `${whole} s`;
    if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
    return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
  };

  const body = document.getElementById("recent");
  const where = (url) => {
    const own = `//${host}/`, at = url.indexOf(own);
    return at > 0 && at < 8 ? url.slice(at + own.length - 1) : url.slice(url.indexOf("//") + 2);
  };
  // Text that others wrote: it is only ever set as text.
  const tame = (text) => text.slice(0, 300).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
  const row = () => {
    const made = document.createElement("tr");
    for (const name of ["code", "where", "what"]) {
      const cell = made.insertCell();
      cell.className = name;
      if (name === "where") cell.append(document.createElement("a"));
      if (name !== "code") (cell.firstChild || cell).append(document.createElement("bdi"));
    }
    return made;
  };
  let shown = [];
  const showPages = () => {
    if (!fresh.length) return;
    if (!shown.length) shown = [...body.rows].filter((one) => one.cells.length === 3).map((one) => ({
      status: one.className, http_status: one.cells[0].textContent, here: one.cells[1].textContent, to: one.cells[1].querySelector("a")?.getAttribute("href"), said: one.cells[2].textContent }));
    const news = fresh.slice(-ROWS).reverse().map((page) => ({
      status: page.status, http_status: String(page.http_status ?? "–"), here: tame(where(page.url)),
      to: `/crawls/${crawl}/explain?${new URLSearchParams({ url: page.url.slice(0, 8000) })}`,
      said: tame(page.title || reasons[page.reason] || "") }));
    fresh = [];
    shown = [...news, ...shown].slice(0, ROWS);
    body.querySelector(".nothing")?.remove();
    while (body.rows.length < shown.length) body.append(row());
    shown.forEach((page, at) => {
      const line = body.rows[at];
      if (line.className !== page.status) line.className = page.status;
      const [code, here, said] = line.cells;
      if (code.textContent !== page.http_status) code.textContent = page.http_status;
      const link = here.querySelector("a"), words = link.firstElementChild;
      if (words.textContent !== page.here) words.textContent = page.here;
      if (link.getAttribute("href") !== page.to) link.setAttribute("href", page.to);
      if (said.firstChild.textContent !== page.said) said.firstChild.textContent = page.said;
    });
  };

  const bars = document.getElementById("answers");
  const showAnswers = () => {
    const total = [...answers.values()].reduce((sum, one) => sum + one, 0);
    if (!total) { bars.replaceChildren(Object.assign(document.createElement("li"), { className: "quiet", textContent: "None yet." })); return; }
    const sorted = [...answers].sort((a, b) => b[1] - a[1]).slice(0, 10);
    while (bars.children.length > sorted.length) bars.lastChild.remove();
    if (bars.firstElementChild && !bars.firstElementChild.querySelector("progress")) bars.replaceChildren();
    while (bars.children.length < sorted.length) {
      const line = document.createElement("li");
      line.append(document.createElement("span"), document.createElement("b"), document.createElement("progress"));
      bars.append(line);
    }
    sorted.forEach(([answer, pages], at) => {
      const line = bars.children[at], [name, amount, bar] = line.children;
      const words = answer === "none" ? ANSWERS.none : `${answer} ${ANSWERS[answer] || ""}`.trim();
      const kind = answer === "none" || answer >= "500" ? "bad" : answer >= "400" ? "warn" : "";
      if (line.className !== kind) line.className = kind;
      if (name.textContent !== words) { name.textContent = words; bar.setAttribute("aria-label", words); }
      if (amount.textContent !== number(pages)) amount.textContent = number(pages);
      if (bar.max !== total) bar.max = total;
      if (bar.value !== pages) bar.value = pages;
    });
  };

  const draw = drawPlot(document.getElementById("pace"), {
    series: [{ label: "stored", colour: "--accent", fill: true }, { label: "failed", colour: "--bad" }] });
  const showPlot = () => {
    const now = Math.floor(Date.now() / 1000), known = [...done.keys(), ...failed.keys()];
    if (!known.length) return;
    let first = Math.min(...known);
    const last = over ? Math.max(...known) : now - 1;
    const width = Math.max(step, Math.ceil((last - first) / 240));
    if (!over) first = Math.max(first, now - KEPT_SECONDS);
    const times = [], ok = [], bad = [];
    for (let at = Math.floor(first / width) * width; at <= last; at += width) {
      let pages = 0, failures = 0;
      for (let second = at; second < at + width; second++) { pages += done.get(second) || 0; failures += failed.get(second) || 0; }
      times.push(at); ok.push(pages / width); bad.push(failures / width);
    }
    times.push(times.at(-1) + width); ok.push(ok.at(-1)); bad.push(bad.at(-1));  // a step has an end, too
    draw([times, ok, bad.some((one) => one > 0) ? bad : bad.map(() => null)]);
  };

  let flushes = 0;
  const flush = () => {
    flushes += 1;
    if (document.hidden) return;
    const since = document.querySelector('[data-live="elapsed"]');
    if (since) write("elapsed", clock((Date.now() - Date.parse(since.dataset.since)) / 1000));
    if (!over && flushes % 2 === 0) { write("rate", rate().toLocaleString("en-US", { maximumFractionDigits: 1 })); showPlot(); }
    if (!dirty) return;
    dirty = false;
    if (progress && !over) {
      for (const name of ["pages_crawled", "pages_failed", "pages_skipped", "queued", "under_way", "estimated_total"]) write(name, number(progress[name]));
      const about = document.querySelector('[data-live="estimated_total"]');
      if (about && progress.pages_crawled) about.parentElement.hidden = false;
      const share = Math.min(99, Math.floor(100 * progress.pages_crawled / Math.max(progress.estimated_total, 1)));
      write("progress", String(share));
      const bar = document.querySelector('[data-live="bar"]');
      if (bar) bar.value = share;
    }
    showPages();
    showAnswers();
  };

  // -- where it comes from -----------------------------------------------------------------
  const load = async () => {
    const answer = await fetch(`/crawls/${crawl}/pace.json`).catch(() => null);
    if (!answer?.ok) return;
    const found = await answer.json();
    step = found.step;
    answers.clear(); done.clear(); failed.clear();
    for (const [name, pages] of Object.entries(found.answers)) answers.set(name, pages);
    for (const [at, pages, failures] of found.points) {
      // Of a longer step its seconds are told evenly.
      for (let second = at; second < at + step; second++) { count(done, second, pages / step); count(failed, second, failures / step); }
    }
    if (!found.counted) document.getElementById("pace-note").textContent = over ? "too many URLs to count" : "since this page was opened";
    showAnswers();
    showPlot();
  };

  // What was told while nobody listened: the rows are the server's again, and what comes later is put before them.
  // Each part asks for itself: of requests that have no source, htmx keeps only the last one that waits.
  const reread = () => htmx.ajax("GET", `/crawls/${crawl}/recent`, { source: "#recent", target: "#recent", swap: "innerHTML" })
    .then(() => { fresh = []; shown = []; });
  // One at a time: the answer to a second one would have no place, because that to the first takes its target away.
  let refreshing = null, outdated = false;
  const refresh = () => {
    if (refreshing) { outdated = true; return refreshing; }
    refreshing = htmx.ajax("GET", `/crawls/${crawl}/state`, { source: "#live", target: "#state", swap: "outerHTML" }).finally(() => {
      refreshing = null;
      if (!outdated) return undefined;
      outdated = false;
      return refresh();
    });
    return refreshing;
  };
  const catchUp = () => { load(); reread(); };
  let ending = false;
  const end = () => {
    if (over || ending) return;
    ending = true;
    flush();
    refresh().then(() => {
      over = true;
      htmx.ajax("GET", `/crawls/${crawl}/hosts`, { source: "#hosts", target: "#hosts", swap: "innerHTML" });
      load();
      reread();
      socket?.close();
      clearInterval(timer);
    });
  };
  document.body.addEventListener("crawl-over", end);
  document.addEventListener("htmx:afterSwap", () => {
    const counts = document.querySelector("[data-counts]");
    if (counts && !over && !ending) { write("lightweight", number(counts.dataset.lightweight)); write("rendered", number(counts.dataset.rendered)); }
  });

  let socket = null, patience = 500;
  const connect = () => {
    const address = new URL(`/api/v1/projects/${project}/ws`, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    if (seen !== null) address.searchParams.set("after", seen);
    socket = new WebSocket(address);
    socket.onopen = () => {
      patience = 500;
      // The page was made before the first event, so no number says what was told between that and now.
      if (seen === null) { catchUp(); refresh(); }
    };
    socket.onmessage = (message) => take(JSON.parse(message.data));
    socket.onclose = (closed) => {
      if (over) return;
      if (closed.code === 4401 || closed.code === 4404) { location.reload(); return; }
      setTimeout(connect, patience);
      patience = Math.min(patience * 2, 15000);
    };
  };

  load();
  const timer = over ? null : setInterval(flush, FLUSH_MS);
  if (!over) connect();
})();
