// Short notices in the corner. Notices of errors stay until they are dismissed; others disappear.
const STAYS = 7000;

function remove(notice) {
  notice.remove();
}

function wait(notice) {
  if (["bad", "warn"].includes(notice.dataset.toast)) return;
  let timer = setTimeout(remove, STAYS, notice);
  const hold = () => clearTimeout(timer);
  const go = () => { timer = setTimeout(remove, STAYS, notice); };
  notice.addEventListener("pointerenter", hold);
  notice.addEventListener("pointerleave", go);
  notice.addEventListener("focusin", hold);
  notice.addEventListener("focusout", go);
}

/** Show `text` (plain text) in the tone ok, info, warn or bad. An error that is still shown is not repeated. */
export function toast(text, tone = "info") {
  const region = document.getElementById("toasts");
  const pattern = document.getElementById("toast-pattern");
  if (!region || !pattern) return;
  // A page that refreshes itself fails again and again while there is no network.
  const errors = [...region.querySelectorAll("[data-toast=bad] .toast__text")];
  if (tone === "bad" && errors.some((shown) => shown.textContent === text)) return;
  const notice = pattern.content.querySelector(`[data-toast=${tone}]`).cloneNode(true);
  notice.querySelector(".toast__text").textContent = text;
  region.append(notice);
}

export function watchToasts() {
  const region = document.getElementById("toasts");
  if (!region) return;
  for (const notice of region.querySelectorAll("[data-toast]")) wait(notice);
  new MutationObserver((changes) => {
    for (const change of changes) for (const node of change.addedNodes) if (node.dataset?.toast) wait(node);
  }).observe(region, { childList: true });
  document.addEventListener("click", (event) => {
    const notice = event.target.closest?.("[data-dismiss]")?.closest("[data-toast]");
    if (notice) remove(notice);
  });
}
