// A click on an element of the inert page asks for a selector of it. The page itself runs nothing.
"use strict";
(() => {
  const frame = document.getElementById("inert");
  if (!frame) return;
  let marked = null;
  const mark = (element) => {
    if (marked) marked.style.outline = "";
    marked = element;
    if (marked) marked.style.outline = "2px solid #c2410c";
  };
  const numbered = (event) => event.target.closest?.("[data-element]") ?? null;
  const listen = () => {
    const inside = frame.contentDocument;
    if (!inside || inside.documentElement.dataset.heard) return;
    inside.documentElement.dataset.heard = "yes";
    inside.addEventListener("mouseover", (event) => mark(numbered(event)));
    inside.addEventListener("submit", (event) => event.preventDefault(), true);
    inside.addEventListener("click", (event) => {
      event.preventDefault();
      const element = numbered(event);
      if (!element) return;
      const asked = `${frame.dataset.pick}?element=${encodeURIComponent(element.dataset.element)}`;
      htmx.ajax("GET", asked, {target: "#picked", swap: "innerHTML"}).then(() => {
        const found = document.getElementById("picked-selector");
        if (found) document.getElementById("selector").value = found.textContent;
        document.getElementById("picked").scrollIntoView({block: "nearest"});
      });
    }, true);
  };
  frame.addEventListener("load", listen);
  if (frame.contentDocument?.readyState === "complete") listen();
})();
