// Nobody can have read an item that has just appeared: nothing of it is stored for a moment, neither
// by a second press of a key nor by a double click. The server marks the form with data-fresh; until
// a script is at work here the keys that would send it rest (see shortcuts.js), and clicks send it.
const MOMENT = 400; // milliseconds

function refuse(event) {
  if (!("fresh" in event.currentTarget.dataset)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** The form is on screen from now on. Call it before anything else listens for the form's "submit". */
export function watchFresh(form) {
  form.dataset.fresh = "";
  form.addEventListener("submit", refuse, { capture: true });
  setTimeout(() => delete form.dataset.fresh, MOMENT);
}
