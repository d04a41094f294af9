// A file goes to the API as it is; the page says how far it is and which rows were no good.
"use strict";
(() => {
  const form = document.getElementById("import");
  if (!form) return;
  form.hidden = false;
  const at = (id) => document.getElementById(id);
  const bar = at("sent"), doing = at("doing"), report = at("report"), stop = at("stop"), send = at("send");
  const token = JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRF-Token"];
  const inert = (text) => String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
  const counted = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
  let sending = null;

  const address = () => {
    const asked = new URLSearchParams();
    for (const [name, id] of [["category", "file_category"], ["priority", "file_priority"], ["project_id", "file_project"]]) {
      const value = at(id)?.value.trim();
      if (value) asked.set(name, value);
    }
    return `/api/v1/queue/import?${asked}`;
  };
  const over = (words) => {
    sending = null;
    bar.hidden = stop.hidden = true;
    send.disabled = false;
    doing.textContent = words;
  };
  const tell = (heading, words, kind) => {
    at("report-head").textContent = heading;
    at("report-words").textContent = words;
    at("verdict").className = `outcome ${kind}`;
    report.hidden = false;
  };
  const MOST_READ = 5_000_000;
  const show = async (found) => {
    const file = at("file").files[0];
    const isText = file && !/\.(warc|gz)$/i.test(file.name);
    const lines = isText && found.problems.length ? (await file.slice(0, MOST_READ).text()).split(/\r\n|\n|\r/) : [];
    const bad = !found.bad ? "Every row was good." : `${counted(found.bad, "row was", "rows were")} no good and left out${found.added ? "; the others landed" : ""}.`;
    const known = found.duplicates ? ` ${counted(found.duplicates, "was", "were")} there already and stayed as ${found.duplicates === 1 ? "it is" : "they are"}.` : "";
    tell(`${counted(found.added, "URL was", "URLs were")} added`, bad + known, found.added || !found.bad ? "" : "failed");
    const body = at("bad-rows").querySelector("tbody");
    body.replaceChildren(...found.problems.map((problem) => {
      const row = document.createElement("tr"), line = document.createElement("td"), reason = document.createElement("td"), value = document.createElement("td");
      const code = document.createElement("code");
      code.textContent = inert((lines[problem.line - 1] ?? "").slice(0, 160));
      value.append(code);
      line.className = "n";
      line.textContent = problem.line.toLocaleString("en");
      reason.textContent = inert(problem.reason);
      row.append(line, value, reason);
      return row;
    }));
    at("bad-rows").hidden = !found.problems.length;
    const more = found.bad - found.problems.length;
    at("more-bad").hidden = more <= 0;
    at("more-bad").textContent = `and ${counted(more, "more bad row", "more bad rows")}`;
    report.scrollIntoView({ block: "nearest" });
  };
  const answered = () => {
    const status = sending.status;
    let answer = null;
    try { answer = JSON.parse(sending.responseText); } catch { /* no answer of ours */ }
    over("");
    if (status >= 200 && status < 300 && answer) return show(answer);
    if (status === 401) return location.assign(`/login?next=${encodeURIComponent("/queue/add")}`);
    tell("Not imported", inert(answer?.detail ?? `The service answered ${status}.`), "failed");
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const file = at("file").files[0];
    if (!file || sending) return;
    report.hidden = true;
    at("bad-rows").hidden = at("more-bad").hidden = true;
    sending = new XMLHttpRequest();
    sending.open("POST", address());
    sending.setRequestHeader("X-CSRF-Token", token);
    sending.setRequestHeader("Content-Type", /\.(warc|gz)$/i.test(file.name) ? "application/warc" : "text/csv");
    sending.upload.addEventListener("progress", (progress) => {
      const share = progress.total ? Math.floor((progress.loaded / progress.total) * 100) : 0;
      bar.querySelector("progress").value = share;
      bar.querySelector("span").textContent = `${share} %`;
      doing.textContent = share < 100 ? "Rows land as they come." : "The last rows are taken in…";
    });
    sending.addEventListener("load", answered);
    sending.addEventListener("error", () => { over(""); tell("Not imported", "The connection broke off. Rows that came are there; the same file again adds the rest.", "failed"); });
    sending.addEventListener("abort", () => { over(""); tell("Stopped", "Rows that came are there; the same file again adds the rest.", "cancelled"); });
    bar.hidden = stop.hidden = false;
    send.disabled = true;
    sending.send(file);
  });
  stop.addEventListener("click", () => sending?.abort());
})();
