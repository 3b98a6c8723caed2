// The guideline beside the text; a key opens it with the cursor in its search field.
import { words } from "../words.js";

export function watchGuideline(details) {
  if (!details) return;
  const text = details.querySelector("[data-guideline-text]");
  const field = details.querySelector("[data-find]");
  const told = details.querySelector("[data-found]");
  const marks = "Highlight" in window ? new Highlight() : null;
  if (marks) CSS.highlights.set("found", marks);
  let ranges = [];
  let at = 0;

  details.querySelector("summary").addEventListener("click", (event) => {
    if (details.open) return;
    event.preventDefault(); // "toggle" comes later: a key typed before it would be a shortcut
    details.open = true;
    field.focus();
  });
  field.addEventListener("input", () => {
    find(field.value.trim());
    go(0);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go(at + (event.shiftKey ? -1 : 1));
  });

  function find(sought) {
    marks?.clear();
    ranges = [];
    const node = text.firstChild;
    const whole = text.textContent.toLowerCase();
    const wanted = sought.toLowerCase();
    if (wanted.length > 1 && node && whole.length === text.textContent.length) {
      for (let place = whole.indexOf(wanted); place >= 0 && ranges.length < 1000; place = whole.indexOf(wanted, place + wanted.length)) {
        const range = document.createRange();
        range.setStart(node, place);
        range.setEnd(node, place + wanted.length);
        ranges.push(range);
        marks?.add(range);
      }
    }
    told.textContent = wanted.length > 1 && !ranges.length ? words("not-found") : "";
  }

  function go(place) {
    if (!ranges.length) return;
    at = (place + ranges.length) % ranges.length;
    told.textContent = words("number-of", { number: at + 1, total: ranges.length });
    const box = ranges[at].getBoundingClientRect();
    const frame = text.getBoundingClientRect();
    text.scrollTop += box.top - frame.top - frame.height / 3;
  }
}
