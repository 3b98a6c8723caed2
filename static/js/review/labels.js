// The labels beside a text: links to their quotes, and ways to find one among many. Used in Review and
// in adjudication.
import { words } from "../words.js";

const RECENT = 6;

const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
const box = (choice) => choice.querySelector("input");

/** Connect a form that is shown now. */
export function watchLabels(form) {
  for (const event of ["pointerover", "focusin"]) form.addEventListener(event, ({ target }) => point(form, target));
  form.addEventListener("pointerleave", () => point(form, form));
  form.addEventListener("click", ({ target }) => {
    // Not on hover, where the text would move away under the pointer.
    if (target.closest("mark[data-names]")) form.querySelector(".choice[data-linked]")?.scrollIntoView({ block: "nearest" });
  });
  watchHeights(form);
  watchFold(form);
  const root = form.querySelector("[data-choices]");
  const filter = root?.querySelector("[data-filter]");
  if (!filter) return;
  bringForward(root);
  watchFilter(root, filter);
}

/** Mark the quotes of the label under the pointer or focus, and the labels of the quote there. */
function point(form, target) {
  const mark = target.closest?.("mark[data-names]");
  const name = target.closest?.(".choice")?.dataset.name;
  const names = mark ? JSON.parse(mark.dataset.names) : [name];
  for (const quote of form.querySelectorAll("mark[data-names]")) {
    quote.toggleAttribute("data-linked", quote === mark || (!mark && JSON.parse(quote.dataset.names).includes(name)));
  }
  for (const choice of form.querySelectorAll(".choice[data-name]")) {
    const on = names.includes(choice.dataset.name);
    choice.toggleAttribute("data-linked", on);
    choice.dataset.color = choice.querySelector(".swatch").dataset.color;
  }
}

// Recently used labels, newest first; kept by this browser for each project.
function recent(root) {
  try {
    return JSON.parse(localStorage.getItem(root.dataset.recent)) ?? [];
  } catch {
    return []; // another page's value, or storage is switched off
  }
}

/** Remember the chosen labels of an answer. */
export function rememberLabels(form) {
  const root = form.querySelector("[data-recent]");
  if (!root) return;
  const chosen = [...root.querySelectorAll("input[name=value]:checked")].map((one) => one.value);
  const kept = [...new Set([...chosen, ...recent(root)])].slice(0, RECENT);
  try {
    localStorage.setItem(root.dataset.recent, JSON.stringify(kept));
  } catch { /* storage is full or switched off */ }
}

/** Move suggested and recent labels to the front. Keys belong to labels, so they do not change. */
function bringForward(root) {
  const choices = [...root.querySelectorAll(".choice[data-name]")];
  const last = root.dataset.recent ? recent(root) : [];
  const first = [
    ...choices.filter((choice) => "suggested" in box(choice).dataset),
    ...last.map((name) => choices.find((choice) => choice.dataset.name === name)).filter(Boolean),
  ];
  const front = root.querySelector("[data-front]");
  front.hidden = !first.length;
  front.append(...new Set(first));
}

function watchFilter(root, filter) {
  const status = root.querySelector("[data-filtered]");
  const all = () => [...root.querySelectorAll(".choice[data-name]")];
  const narrow = () => {
    const wanted = fold(filter.value);
    for (const choice of all()) {
      const text = fold(`${choice.dataset.name} ${choice.querySelector(".choice__help > div")?.textContent ?? ""}`);
      choice.hidden = !text.includes(wanted);
    }
    const left = all().filter((choice) => !choice.hidden);
    status.textContent = wanted ? words("number-of", { number: left.length, total: all().length }) : "";
    return left;
  };
  const close = () => {
    filter.value = "";
    narrow();
    filter.blur();
  };
  root.querySelector("[data-filtering]").hidden = false;
  filter.addEventListener("input", (event) => {
    event.stopPropagation(); // no part of the answer
    narrow();
  });
  filter.addEventListener("keydown", (event) => {
    if (!["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault(); // Enter would submit the answer
    const [found] = filter.value ? narrow() : [];
    if (event.key === "Enter" && !found) return;
    close();
    if (event.key === "Enter" && !box(found).checked) box(found).click();
    found?.scrollIntoView({ block: "nearest" });
  });
}

/** Tell the stylesheet how tall the columns are, so that the end of a tall one is reached. */
function watchHeights(form) {
  const watcher = new ResizeObserver((changes) => {
    for (const { target } of changes) target.style.setProperty("--tall", `${target.offsetHeight}px`);
  });
  for (const column of form.querySelectorAll(".task__reading, .task__answer")) watcher.observe(column);
}

/** On a phone the sheet of labels can be folded away to read. */
function watchFold(form) {
  const fold = form.querySelector("[data-fold]");
  fold.addEventListener("click", () => {
    const folded = form.toggleAttribute("data-folded");
    fold.setAttribute("aria-expanded", String(!folded));
    fold.querySelector("[data-fold-words]").textContent = words(folded ? "show-labels" : "hide-labels");
  });
}
