// Before anything is drawn: light, dark, or as the system has it.
"use strict";
(() => {
  const kept = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const chosen = kept();
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
