import { h } from "../dom.js";
import { icon } from "./icon.js";

const UP = "M8 13V3.5M3.5 8L8 3.5 12.5 8";
const LONGEST = 8000;

/** Where one writes: grows with the text, Enter sends, Shift+Enter starts a line. */
export function createComposer(strings, send) {
  const input = h("textarea", {
    rows: 1, maxlength: LONGEST, placeholder: strings.write, "aria-label": strings.write, dir: "auto",
    enterkeyhint: "send", oninput: grow, onkeydown: keys,
  });
  const submit = h("button", {
    class: "send", type: "submit", "aria-label": strings.send, "aria-disabled": "true",
  }, icon(UP));
  const node = h("form", { class: "composer", onsubmit: commit }, input, submit);

  function grow() {
    submit.setAttribute("aria-disabled", `${!input.value.trim()}`);
    input.style.setProperty("height", "auto");
    // The border is part of the box and not of the scrolled height.
    input.style.setProperty("height", `${input.scrollHeight + input.offsetHeight - input.clientHeight}px`);
  }

  function commit(event) {
    event.preventDefault();
    const text = input.value.trim();
    if (!text) return;
    input.value = "";
    grow();
    input.focus();
    send(text);
  }

  function keys(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) commit(event);
  }

  return { node, focus: () => input.focus({ preventScroll: true }) };
}
