// A run's page follows its run, its form shows the roles of the chosen protocol, and a debate's
// quotes lead to their place in the text. Everything works without this, after a reload.

const POLL = 2000;
const PATIENCE = 30000;

function watchRun(region) {
  let socket = null;
  let wait = 1000;
  let ended = false;

  const going = () => region.querySelector("[data-going]")?.dataset.going === "yes";
  const refresh = () => region.dispatchEvent(new CustomEvent("run-changed"));
  const open = () => socket !== null && socket.readyState === WebSocket.OPEN;

  function connect() {
    if (ended) return;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    socket = new WebSocket(`${scheme}://${location.host}/ws/v1/runs/${region.dataset.run}/`);
    socket.addEventListener("open", () => { wait = 1000; });
    socket.addEventListener("message", refresh);
    socket.addEventListener("close", (event) => {
      // 4403 and 4404: this person may not listen, trying again would not help.
      if (ended || event.code === 4403 || event.code === 4404) return;
      setTimeout(connect, wait);
      wait = Math.min(wait * 2, PATIENCE);
    });
  }

  if (!going()) return;
  connect();
  let last = Date.now();
  const timer = setInterval(() => {
    // With an open socket a slow pulse remains: the estimate moves even when nothing finishes.
    if (!open() || Date.now() - last > 5 * POLL) { last = Date.now(); refresh(); }
  }, POLL);
  region.addEventListener("htmx:afterSettle", () => {
    last = Date.now();
    if (going()) return;
    ended = true;
    clearInterval(timer);
    socket?.close();
    // The table of debates below is as old as the page.
    location.reload();
  });
}

function watchProtocols(form) {
  function show() {
    const chosen = form.querySelector('input[name="protocol"]:checked')?.value;
    for (const role of form.querySelectorAll("[data-protocols]")) {
      role.hidden = Boolean(chosen) && !role.dataset.protocols.split(" ").includes(chosen);
    }
  }
  form.addEventListener("change", show);
  show();
}

const plain = (text) => text.replace(/\s+/g, " ").trim().toLowerCase();

function watchQuotes(text) {
  document.addEventListener("click", (event) => {
    const quote = event.target.closest("[data-quote]");
    if (!quote) return;
    const wanted = plain(quote.dataset.quote);
    let first = null;
    for (const mark of text.querySelectorAll("mark")) {
      const part = plain(mark.textContent);
      const on = part !== "" && (wanted.includes(part) || part.includes(wanted));
      mark.toggleAttribute("data-on", on);
      if (on && !first) first = mark;
    }
    first?.scrollIntoView({ block: "center" });
  });
}

const region = document.querySelector("#progress[data-run]");
if (region) watchRun(region);
const form = document.querySelector("[data-run-form]");
if (form) watchProtocols(form);
const text = document.querySelector("[data-debate-text]");
if (text) watchQuotes(text);
