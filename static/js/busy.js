// Shows that a control is busy after 100 ms, and ignores a second press.
const PATIENCE = 100;

function settle(form) {
  delete form.dataset.sent;
  for (const button of form.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy");
}

export function watchBusy() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    // A download does not leave the page, so that the control would stay busy for ever.
    if (event.defaultPrevented || form.getAttribute("method") === "dialog" || "noBusy" in form.dataset) return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    const button = event.submitter;
    setTimeout(() => form.dataset.sent && button?.setAttribute("aria-busy", "true"), PATIENCE);
  });
  // The browser's back button shows the page as it was left, with its busy controls.
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) settle(form);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    // Parts of a form that depend on its fields send requests of their own, which do not submit the form.
    if (event.target.matches?.("form")) settle(event.target);
  });
}
