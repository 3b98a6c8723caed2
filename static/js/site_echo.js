// What moves on a site's page on Echo renews itself; what somebody is at is left alone.
const POLL = 3000;

const busy = (part) =>
  part.contains(document.activeElement) ||
  part.querySelector("details[open]") !== null ||
  (document.getSelection()?.type === "Range" && document.getSelection().containsNode(part, true));

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
  });
  setInterval(() => {
    if (!document.hidden) whole.dispatchEvent(new CustomEvent("echo-tick"));
  }, POLL);
}

const whole = document.querySelector("[data-echo]");
if (whole) watch(whole);
