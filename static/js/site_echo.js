// What moves on a page about Echo renews itself; what somebody is at is left alone.
const POLL = 3000;
const FOLDS = "details[data-fold]";

// A part that is merely unfolded is not being read.
const busy = (part) =>
  part.contains(document.activeElement) ||
  part.querySelector(`details[open]:not(${FOLDS})`) !== null ||
  (document.getSelection()?.type === "Range" && document.getSelection().containsNode(part, true));

// What is folded stays so, and what is not too.
function keepFolds(now, next) {
  for (const fold of now.querySelectorAll(FOLDS)) {
    const same = next.querySelector(`#${fold.id}`);
    if (same) same.open = fold.open;
  }
}

function watch(whole) {
  const parts = () => [...whole.querySelectorAll("[data-mark]")];
  let newest = parts()[0]?.dataset.mark ?? "";

  // What has been sent is not sent again, unless a part was left alone then and is free now.
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

// On a phone the first things come first.
if (matchMedia("(max-width: 40rem)").matches) {
  for (const fold of document.querySelectorAll(FOLDS)) fold.open = false;
}
const whole = document.querySelector("[data-echo]");
if (whole) watch(whole);
