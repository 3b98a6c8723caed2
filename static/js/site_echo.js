// Refreshes the parts of an Echo page that change, except parts in use.
const POLL = 3000;
const FOLDS = "details[data-fold]";

// An expanded section alone does not mean that the part is in use.
const busy = (part) =>
  part.contains(document.activeElement) ||
  part.querySelector(`details[open]:not(${FOLDS})`) !== null ||
  (document.getSelection()?.type === "Range" && document.getSelection().containsNode(part, true));

// Sections stay expanded or collapsed.
function keepFolds(now, next) {
  for (const fold of now.querySelectorAll(FOLDS)) {
    const same = next.querySelector(`#${fold.id}`);
    if (same) same.open = fold.open;
  }
}

function watch(whole) {
  const parts = () => [...whole.querySelectorAll("[data-mark]")];
  let newest = parts()[0]?.dataset.mark ?? "";

  // The server skips a state that the page has seen, unless a part was in use then and is free now.
  whole.addEventListener("htmx:configRequest", ({ target, detail }) => {
    const behind = parts().some((part) => part.dataset.mark !== newest && !busy(part));
    if (target === whole) detail.headers["X-Seen"] = behind ? "" : newest;
  });
  whole.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
    newest = detail.fragment.querySelector("[data-mark]")?.dataset.mark ?? newest;
    if (busy(detail.target)) detail.shouldSwap = false;
    else keepFolds(detail.target, detail.fragment);
  });
  setInterval(() => {
    if (!document.hidden) whole.dispatchEvent(new CustomEvent("echo-tick"));
  }, POLL);
}

// Collapse sections on a phone.
if (matchMedia("(max-width: 40rem)").matches) {
  for (const fold of document.querySelectorAll(FOLDS)) fold.open = false;
}
const whole = document.querySelector("[data-echo]");
if (whole) watch(whole);
