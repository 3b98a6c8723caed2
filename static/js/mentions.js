// After "@an" in a comment, lists the members whose names begin with "an": arrows move, Enter or Tab
// inserts, Esc closes.
import { words } from "./words.js";

const CALL = /(?:^|[^\w.@+-])@([\w.+-]{0,150})$/u;
const PATIENCE = 120;

let field = null;
let list = null;
let names = [];
let at = 0;
let timer = 0;

function close() {
  clearTimeout(timer);
  list?.remove();
  list = null;
  names = [];
  field?.removeAttribute("aria-activedescendant");
  field?.setAttribute("aria-expanded", "false");
}

function typed() {
  return field.value.slice(0, field.selectionStart).match(CALL)?.[1];
}

function take(name) {
  const start = field.selectionStart - typed().length;
  field.setRangeText(`${name} `, start, field.selectionStart, "end");
  close();
  field.focus();
}

function choose(index) {
  at = (index + names.length) % names.length;
  for (const [place, option] of [...list.children].entries()) {
    option.setAttribute("aria-selected", String(place === at));
  }
  field.setAttribute("aria-activedescendant", list.children[at].id);
}

function show() {
  list?.remove();
  list = document.createElement("ul");
  list.className = "people-offered";
  list.id = `${field.id}-people`;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", words("people"));
  for (const [index, name] of names.entries()) {
    const option = document.createElement("li");
    option.id = `${list.id}-${index}`;
    option.setAttribute("role", "option");
    option.textContent = name;
    // On pointerdown, before the field loses the focus.
    option.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      take(name);
    });
    list.append(option);
  }
  field.after(list);
  field.setAttribute("aria-controls", list.id);
  field.setAttribute("aria-expanded", "true");
  choose(0);
}

async function offer() {
  const start = typed();
  const asked = field;
  if (start === undefined) return close();
  try {
    const response = await fetch(`${asked.dataset.mentions}?q=${encodeURIComponent(start)}`);
    const found = (await response.json()).names;
    if (asked !== field || typed() !== start) return undefined;
    names = found;
    return names.length ? show() : close();
  } catch {
    return close();
  }
}

document.addEventListener("input", (event) => {
  if (!event.target.matches?.("textarea[data-mentions]")) return;
  field = event.target;
  if (typed() === undefined) return close();
  clearTimeout(timer);
  timer = setTimeout(offer, PATIENCE);
});

document.addEventListener("keydown", (event) => {
  if (!list || event.target !== field) return;
  const moves = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key in moves) choose(at + moves[event.key]);
  else if (event.key === "Enter" || event.key === "Tab") take(names[at]);
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
  event.stopPropagation();
}, { capture: true });

document.addEventListener("focusout", (event) => event.target === field && close());
