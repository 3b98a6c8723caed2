// Refreshes the list of a site's latest messages, except while somebody reads it.
const POLL = 3000;

function watchFeed(feed, controls) {
  const button = controls.querySelector("[data-live-pause]");
  const words = controls.querySelector("[data-live-words]");
  const action = controls.querySelector("[data-live-action]");
  let paused = false;

  const reading = () => feed.querySelector("details[open]") !== null;

  function tell() {
    const now = paused ? "Paused" : reading() ? "Paused while a message is open" : "Refreshed every 3 seconds";
    if (words.textContent !== now) words.textContent = now;
    feed.toggleAttribute("data-rests", paused || reading());
  }

  function pause(on) {
    paused = on;
    button.setAttribute("aria-pressed", String(on));
    action.textContent = on ? "Resume" : "Pause";
    tell();
  }

  function tick() {
    if (paused || document.hidden || reading()) return;
    // A swap would remove the focus from its row.
    if (feed.contains(document.activeElement)) return;
    feed.dispatchEvent(new CustomEvent("site-tick"));
  }

  // The server skips the state that is shown already, as a swap would clear the selection.
  feed.addEventListener("htmx:configRequest", ({ detail }) => {
    detail.parameters.seen = feed.querySelector("[data-state]")?.dataset.state ?? "";
  });
  button.addEventListener("click", () => pause(!paused));
  // "toggle" does not bubble.
  feed.addEventListener("toggle", tell, true);
  controls.hidden = false;
  tell();
  setInterval(tick, POLL);
}

const feed = document.querySelector("[data-live]");
const controls = document.querySelector("[data-live-controls]");
if (feed && controls) watchFeed(feed, controls);
