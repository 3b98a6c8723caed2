// Keys: <button data-key="s" data-key-label="Skip">; blanks separate several keys.
// Pressing one clicks the control, or puts the cursor into a field. "?" lists the keys of the page.
const NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Backspace: "⌫" };

export function typing(target) {
  if (target.isContentEditable) return true;
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit", "range"].includes(target.type);
}

function usable(element) {
  return !element.disabled && element.getAttribute("aria-disabled") !== "true" && !element.closest("[inert]") && element.getClientRects().length > 0;
}

function offered() {
  const root = document.querySelector("dialog[open]:not(#shortcuts)") ?? document;
  return [...root.querySelectorAll('[data-key]:not([data-key=""])')].filter(usable);
}

function meaningOf(element) {
  return element.dataset.keyLabel || element.getAttribute("aria-label") || element.textContent.trim();
}

function act(element) {
  if (element.matches("input:not([type=checkbox], [type=radio]), textarea, select")) {
    element.focus();
    element.select?.();
  } else {
    element.click();
  }
}

function list() {
  const rows = document.querySelector("#shortcuts [data-keys]");
  if (!rows) return;
  rows.replaceChildren();
  for (const element of offered()) {
    const term = document.createElement("dt");
    for (const key of element.dataset.key.split(" ")) {
      const cap = document.createElement("kbd");
      cap.textContent = NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key);
      term.append(cap, " ");
    }
    const meaning = document.createElement("dd");
    meaning.textContent = meaningOf(element);
    rows.append(term, meaning);
  }
}

export function watchKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (event.key === "Escape" && typing(event.target)) event.target.blur();
    if (event.defaultPrevented || typing(event.target) || document.querySelector("#shortcuts[open]")) return;
    // A focused control handles Enter and Space itself.
    if (["Enter", " "].includes(event.key) && event.target.closest("a, button, summary, input, label")) return;
    const wanted = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const found = offered().find((element) => element.dataset.key.split(" ").includes(wanted));
    if (!found) return;
    event.preventDefault();
    // The item has only just appeared (see review/fresh.js).
    if (!found.matches("[data-fresh] [type=submit]")) act(found);
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-opens=shortcuts]")) list();
  }, { capture: true });
}
