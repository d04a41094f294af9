// Fields of a category: there is always an empty row to type in, and each can be taken away.
"use strict";
(() => {
  const list = document.getElementById("rules");
  const last = list?.lastElementChild;
  if (!last || list.closest("fieldset").disabled) return;
  const blank = last.cloneNode(true);
  const isEmpty = (row) => ![...row.querySelectorAll("input")].some((input) => input.value.trim());
  const tend = () => {
    const rows = [...list.children];
    if (!isEmpty(rows.at(-1)) && rows.length < 50) list.append(blank.cloneNode(true));
    [...list.children].forEach((row, place) => {
      for (const part of row.querySelectorAll("[aria-label]")) part.setAttribute("aria-label", part.getAttribute("aria-label").replace(/field \d+/, `field ${place + 1}`));
      const remove = row.querySelector("[data-remove]");
      remove.hidden = isEmpty(row);
      remove.querySelector(".hidden").textContent = `Remove field ${place + 1}`;
    });
  };
  list.addEventListener("input", tend);
  list.addEventListener("click", (event) => {
    const row = event.target.closest("[data-remove]")?.closest("li");
    if (!row) return;
    const near = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    tend();
    near?.querySelector("input").focus();
    list.dispatchEvent(new Event("rules", { bubbles: true }));
  });
  tend();
})();
