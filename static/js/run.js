// Updates the page of a run, and keeps the input of its form while its settings change. Without this
// script the page needs a reload.

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
      // The first message only confirms the connection. While a run is paused, its form may be in use.
      if (going() || heard > 1) refresh();
    });
    socket.addEventListener("close", (event) => {
      // 4403 and 4404: this user may not follow the run, so do not try again.
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
    // Also poll slowly with an open socket, as the estimate changes even if nothing finishes.
    if (!open() || Date.now() - last > 5 * POLL) { last = Date.now(); refresh(); }
  }, POLL);
  region.addEventListener("htmx:afterSettle", () => {
    last = Date.now();
    const goes = going();
    if (goes === went && !ended()) return;
    went = goes;
    clearInterval(timer);
    socket?.close();
    // The run has started, stopped or ended, so that the rest of the page is out of date.
    location.reload();
  });
}

// Keep what somebody types while other settings are loading.
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
      // A list is empty if its choice is no longer offered.
      if (field.value === "" && value !== "") field.value = given;
    }
    const now = document.activeElement;
    // As after Tab, so that the next digit replaces the number.
    if (parts.contains(now) && now.matches("input") && !typed.some(([id]) => id === now.id)) now.select();
  });
}

const region = document.querySelector("#progress[data-run]");
if (region) watchRun(region);
const parts = document.querySelector("[data-run-form] #plan-parts");
if (parts) watchParts(parts);
