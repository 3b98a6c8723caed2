// A control that takes more than 100 ms says so, and is not pressed twice.
const PATIENCE = 100;

function settle(form) {
  delete form.dataset.sent;
  for (const button of form.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy");
}

export function watchBusy() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    // A download leaves the page where it is: nothing would ever end the wait.
    if (event.defaultPrevented || form.getAttribute("method") === "dialog" || "noBusy" in form.dataset) return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    const button = event.submitter;
    setTimeout(() => form.dataset.sent && button?.setAttribute("aria-busy", "true"), PATIENCE);
  });
  // Coming back with the browser's own button shows the page as it was left.
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) settle(form);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    // Parts of a form that follow its fields ask for themselves: the form is still on its way.
    if (event.target.matches?.("form")) settle(event.target);
  });
}
