// The link that `crawler up` prints carries its ticket behind #, where no server and no log sees it. Pasted into a tab
// that shows this page already, it changes nothing but that part.
"use strict";
(() => {
  const enter = () => {
    const ticket = location.hash.slice(1);
    if (!ticket.startsWith("crt_")) return;
    history.replaceState(null, "", location.pathname + location.search);
    document.getElementById("key").value = ticket;
    document.getElementById("sign-in").requestSubmit();
  };
  enter();
  addEventListener("hashchange", enter);
})();
