// <button data-opens="id of a dialog">, or a link for browsers without scripts; <button data-closes>.
// The browser handles Esc and focus.
export function watchDialogs() {
  document.addEventListener("click", (event) => {
    const opener = event.target.closest?.("[data-opens]");
    if (opener) {
      event.preventDefault();
      open(opener);
    }
    if (event.target.closest?.("[data-closes]")) event.target.closest("dialog")?.close();
    // A press on the backdrop reaches the dialog element itself.
    if (event.target instanceof HTMLDialogElement && outside(event)) event.target.close();
  });
}

function open(opener) {
  // Closing returns the focus to the element that has it now; if a key opens the dialog, that may be none.
  if (document.activeElement === document.body) opener.focus({ preventScroll: true });
  document.getElementById(opener.dataset.opens)?.showModal();
}

function outside(event) {
  const box = event.target.getBoundingClientRect();
  const { clientX: x, clientY: y, detail } = event;
  return detail > 0 && (x < box.left || x > box.right || y < box.top || y > box.bottom);
}
