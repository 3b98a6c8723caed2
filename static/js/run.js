// A run's page follows its run, and its form keeps what is typed while its settings change.
// Everything works without this, after a reload.

const POLL = 2000;
const PATIENCE = 30000;

function watchRun(region) {
  let socket = null;
  let wait = 1000;
  let heard = 0;

  const head = () => region.querySelector("[data-going]")?.dataset ?? {};
  const going = () => head().going === "yes";
  const ended = () => head().ended === "yes";
  const refresh = () => region.dispatchEvent(new CustomEvent("run-changed"));
  const open = () => socket !== null && socket.readyState === WebSocket.OPEN;

  function connect() {
    if (ended()) return;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    socket = new WebSocket(`${scheme}://${location.host}/ws/v1/runs/${region.dataset.run}/`);
    socket.addEventListener("open", () => { wait = 1000; });
    socket.addEventListener("message", () => {
      heard += 1;
      // The first message only greets. While a run is paused, somebody may be filling in its form.
      if (going() || heard > 1) refresh();
    });
    socket.addEventListener("close", (event) => {
      // 4403 and 4404: this person may not listen, trying again would not help.
      if (ended() || event.code === 4403 || event.code === 4404) return;
      setTimeout(connect, wait);
      wait = Math.min(wait * 2, PATIENCE);
    });
  }

  if (ended()) return;
  connect();
  let last = Date.now();
  let went = going();
  const timer = setInterval(() => {
    if (!going()) return;
    // With an open socket a slow pulse remains: the estimate moves even when nothing finishes.
    if (!open() || Date.now() - last > 5 * POLL) { last = Date.now(); refresh(); }
  }, POLL);
  region.addEventListener("htmx:afterSettle", () => {
    last = Date.now();
    const goes = going();
    if (goes === went && !ended()) return;
    went = goes;
    clearInterval(timer);
    socket?.close();
    // Started, stopped or ended: the rest of the page is as old as its load.
    location.reload();
  });
}

// What somebody types while the settings of another choice are on their way is theirs.
function watchParts(parts) {
  const values = () => new Map([...parts.querySelectorAll("input[id], select[id]")].map((each) => [each.id, each.value]));
  let sent = new Map();
  let typed = [];
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.target === parts) sent = values();
  });
  parts.addEventListener("htmx:beforeSwap", () => {
    typed = [...values()].filter(([id, value]) => sent.get(id) !== value);
  });
  parts.addEventListener("htmx:afterSwap", () => {
    for (const [id, value] of typed) {
      const field = document.getElementById(id);
      if (!field) continue;
      const given = field.value;
      field.value = value;
      // A choice that is no longer offered leaves a list empty.
      if (field.value === "" && value !== "") field.value = given;
    }
    const now = document.activeElement;
    // As after a press of Tab: the next digit replaces what is there.
    if (parts.contains(now) && now.matches("input") && !typed.some(([id]) => id === now.id)) now.select();
  });
}

const region = document.querySelector("#progress[data-run]");
if (region) watchRun(region);
const parts = document.querySelector("[data-run-form] #plan-parts");
if (parts) watchParts(parts);
