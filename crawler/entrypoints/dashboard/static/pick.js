// A click on an element of the inert page asks for a selector of it. The page itself runs nothing.
"use strict";
(() => {
  const frame = document.getElementById("inert");
  if (!frame) return;
  let marked = null;
  let picked = null;
  const outlined = () => {
    if (marked) marked.style.outline = "2px dashed #c2410c";
    if (picked) picked.style.outline = "3px solid #c2410c";
  };
  const mark = (element) => {
    if (marked) marked.style.outline = "";
    marked = element;
    outlined();
  };
  const pick = (element) => {
    if (picked) picked.style.outline = "";
    picked = element;
    outlined();
  };
  const numbered = (event) => event.target.closest?.("[data-element]") ?? null;
  const listen = () => {
    const inside = frame.contentDocument;
    if (!inside || inside.documentElement.dataset.heard) return;
    inside.documentElement.dataset.heard = "yes";
    inside.addEventListener("mouseover", (event) => mark(numbered(event)));
    inside.documentElement.addEventListener("mouseleave", () => mark(null));
    inside.addEventListener("submit", (event) => event.preventDefault(), true);
    inside.addEventListener("click", (event) => {
      event.preventDefault();
      const element = numbered(event);
      if (!element) return;
      pick(element);
      const asked = `${frame.dataset.pick}?element=${encodeURIComponent(element.dataset.element)}`;
      htmx.ajax("GET", asked, {target: "#picked", swap: "innerHTML"}).then(() => {
        const found = document.getElementById("picked-selector");
        if (found) document.getElementById("selector").value = found.textContent;
        const shown = document.getElementById("picked");
        const {top, bottom} = shown.getBoundingClientRect();
        if (top > window.innerHeight || bottom < 0) shown.scrollIntoView({block: "nearest"});
      });
    }, true);
  };
  frame.addEventListener("load", listen);
  if (frame.contentDocument?.readyState === "complete") listen();
})();
