// What went wrong with a part of a page is said in place of silence.
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
    const words = status === 403 ? "You are signed out, or may not do this. Load the page again." : `The server could not do this (${status}). Try again; what you typed is still here.`;
    toast(words, "bad");
  });
  document.addEventListener("htmx:sendError", () => {
    toast("The server cannot be reached. Check the connection and try again.", "bad");
  });
}
