// Nobody can have read an item that has just appeared, so its form does not submit for a moment, also
// after a second press of a key or a double click. The server marks the form with data-fresh. Until
// this script runs, keys do not submit the form (see shortcuts.js), but clicks do.
const MOMENT = 400; // milliseconds

function refuse(event) {
  if (!("fresh" in event.currentTarget.dataset)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** Start when the form appears, before any other listener for its "submit". */
export function watchFresh(form) {
  form.dataset.fresh = "";
  form.addEventListener("submit", refuse, { capture: true });
  setTimeout(() => delete form.dataset.fresh, MOMENT);
}
