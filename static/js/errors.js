// Shows failed requests of parts of a page.
import { toast } from "./toast.js";

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
    const words = status === 403 ? "You are signed out, or you may not do this. Reload the page." : `The request failed on the server (${status}). Try again: your input is still here.`;
    toast(words, "bad");
  });
  document.addEventListener("htmx:sendError", () => {
    toast("The server cannot be reached. Check the connection and try again.", "bad");
  });
}
