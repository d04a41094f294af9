// The link that `crawler up` prints carries its ticket behind #, where no server and no log sees it.
"use strict";
(() => {
  const ticket = location.hash.slice(1);
  if (!ticket.startsWith("crt_")) return;
  history.replaceState(null, "", location.pathname + location.search);
  document.getElementById("key").value = ticket;
  document.getElementById("sign-in").requestSubmit();
})();
