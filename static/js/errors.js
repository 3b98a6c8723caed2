// Shows failed requests of parts of a page.
import { toast } from "./toast.js";
import { words } from "./words.js";

export function watchErrors() {
  document.addEventListener("htmx:beforeSwap", (event) => {
    // The server sends expected errors as a toast with its own target; let those through.
    if (event.detail.xhr.getResponseHeader("HX-Retarget")) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
  });
  document.addEventListener("htmx:responseError", (event) => {
    const { status } = event.detail.xhr;
    toast(status === 403 ? words("signed-out") : words("request-failed", { status }), "bad");
  });
  document.addEventListener("htmx:sendError", () => {
    toast(words("unreachable"), "bad");
  });
}
