// Refreshes the list of a site's latest messages, except while somebody reads it.
import { words } from "./words.js";

const POLL = 3000;

function watchFeed(feed, controls) {
  const button = controls.querySelector("[data-live-pause]");
  const state = controls.querySelector("[data-live-words]");
  const action = controls.querySelector("[data-live-action]");
  let paused = false;

  const reading = () => feed.querySelector("details[open]") !== null;

  function tell() {
    const now = words(paused ? "paused" : reading() ? "reading" : "refreshed");
    if (state.textContent !== now) state.textContent = now;
    feed.toggleAttribute("data-rests", paused || reading());
  }

  function pause(on) {
    paused = on;
    button.setAttribute("aria-pressed", String(on));
    action.textContent = words(on ? "resume" : "pause");
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
