// Marks phrases of the text as evidence for a label. Positions are code points of the stored text; the
// browser counts UTF-16 units and drops carriage returns.
import { words } from "../words.js";

/** The browser's highlight in a label's colour. */
function highlight(color) {
  const name = `evidence-${color}`;
  if (!CSS.highlights.has(name)) CSS.highlights.set(name, new Highlight());
  return CSS.highlights.get(name);
}

export class Evidence {
  constructor(form) {
    this.form = form;
    this.root = form.querySelector("[data-evidence]");
    if (!this.root) return;
    this.hero = form.querySelector("[data-hero]");
    this.quote = this.root.querySelector("[data-quote]");
    this.note = this.root.querySelector("[data-evidence-note]");
    this.list = this.root.querySelector("[data-evidence-list]");
    this.field = this.root.querySelector("[data-spans]");
    this.returns = JSON.parse(this.root.dataset.returns || "[]");
    this.spans = [];
    this.last = null; // the label that was changed last
    this.for = this.root.querySelector("[data-evidence-for]");
    this.unlabelled = this.for.textContent;
    this.root.querySelector("[data-mark]").addEventListener("click", () => this.mark());
    this.quote.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault(); // Enter would submit the answer
      this.mark();
    });
    form.addEventListener("change", (event) => this.#touched(event.target));
    document.addEventListener("selectionchange", () => this.#selected());
    this.#say();
  }

  /** The position of the selection, or of the typed words, in the shown text. */
  #place() {
    const selection = document.getSelection();
    const text = this.hero.textContent;
    if (!selection.isCollapsed && this.hero.contains(selection.anchorNode) && this.hero.contains(selection.focusNode)) {
      const range = selection.getRangeAt(0);
      const before = document.createRange();
      before.setStart(this.hero, 0);
      before.setEnd(range.startContainer, range.startOffset);
      return this.#trimmed(text, before.toString().length, before.toString().length + range.toString().length);
    }
    const typed = this.quote.value.trim();
    if (!typed) return null;
    const at = text.toLowerCase().indexOf(typed.toLowerCase());
    return at < 0 ? undefined : [at, at + typed.length];
  }

  #trimmed(text, start, end) {
    while (start < end && /\s/u.test(text[start])) start += 1;
    while (end > start && /\s/u.test(text[end - 1])) end -= 1;
    return start < end ? [start, end] : null;
  }

  /** The label to mark for: the selected one that was changed last, else the first selected one. */
  label() {
    if ("written" in this.form.dataset) return "answer";
    const chosen = [...this.form.querySelectorAll("input[name=value]:checked")].map((one) => one.value);
    return chosen.includes(this.last) ? this.last : chosen[0];
  }

  mark() {
    const label = this.label();
    const place = this.#place();
    if (!label) return this.#tell(words("label-first"));
    if (place === null) return this.#ask();
    if (place === undefined) return this.#tell(words("no-such-words"));
    this.add({ label, at: place });
    this.quote.value = "";
    document.getSelection().removeAllRanges();
    return this.#tell(words("marked", { label }));
  }

  add(span) {
    const same = (one) => one.label === span.label && one.at[0] === span.at[0] && one.at[1] === span.at[1];
    if (!this.spans.some(same)) this.spans.push(span);
    this.#show();
    this.form.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** Restore the spans of a draft, with the server's positions. */
  restore(written) {
    if (!this.root) return;
    const points = [...this.hero.textContent];
    for (const { label, start, end } of JSON.parse(written || "[]")) {
      const shown = [start, end].map((place) => points.slice(0, this.#shown(place)).join("").length);
      this.spans.push({ label, at: shown });
    }
    this.#say();
    this.#show();
  }

  #show() {
    const text = this.hero.textContent;
    if ("highlights" in CSS) for (const [name, one] of CSS.highlights) if (name.startsWith("evidence-")) one.clear();
    this.list.replaceChildren(...this.spans.map((span) => {
      const color = this.#color(span.label);
      if ("highlights" in CSS) highlight(color).add(this.#range(...span.at));
      const row = document.createElement("li");
      const quote = document.createElement("q");
      quote.dir = "auto";
      quote.textContent = text.slice(...span.at);
      const label = document.createElement("span");
      label.className = "tag";
      if (color) label.dataset.color = color;
      label.textContent = span.label;
      const drop = document.createElement("button");
      drop.type = "button";
      drop.className = "button button--quiet button--small";
      drop.textContent = words("remove");
      drop.setAttribute("aria-label", words("remove-mark", { words: quote.textContent.slice(0, 60), label: span.label }));
      drop.addEventListener("click", () => {
        this.spans = this.spans.filter((one) => one !== span);
        this.#show();
        this.quote.focus();
      });
      row.append(label, quote, drop);
      return row;
    }));
    this.#write();
  }

  #color(name) {
    const choices = [...this.form.querySelectorAll(".choice[data-name]")];
    return choices.find((one) => one.dataset.name === name)?.querySelector(".swatch").dataset.color ?? "";
  }

  /** Send only evidence for selected labels. */
  #write() {
    const chosen = [...this.form.querySelectorAll("input[name=value]:checked")].map((one) => one.value);
    const sent = this.spans.filter(({ label }) => "written" in this.form.dataset || chosen.includes(label));
    this.field.value = sent.length
      ? JSON.stringify(sent.map(({ label, at }) => ({ label, start: this.#stored(at[0]), end: this.#stored(at[1]) })))
      : "";
  }

  #stored(unit) {
    let place = [...this.hero.textContent.slice(0, unit)].length;
    for (const at of this.returns) if (at <= place) place += 1;
    return place;
  }

  #shown(place) {
    return place - this.returns.filter((at) => at < place).length;
  }

  #range(start, end) {
    const range = document.createRange();
    const walker = document.createTreeWalker(this.hero, NodeFilter.SHOW_TEXT);
    let passed = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const length = node.data.length;
      if (start >= passed && start <= passed + length) range.setStart(node, start - passed);
      if (end >= passed && end <= passed + length) {
        range.setEnd(node, end - passed);
        break;
      }
      passed += length;
    }
    return range;
  }

  #touched(input) {
    if (!["value", "none"].includes(input.name)) return;
    if (input.name === "value") this.last = input.value;
    this.#say();
    this.#write();
  }

  #selected() {
    const selection = document.getSelection();
    if (selection.isCollapsed || !this.hero.contains(selection.anchorNode)) return;
    this.quote.value = selection.toString().trim().slice(0, 200);
  }

  #say() {
    this.for.textContent = this.label() ?? this.unlabelled;
  }

  #ask() {
    this.quote.focus();
    this.#tell(words("mark-how"));
  }

  #tell(told) {
    this.note.textContent = told;
  }
}
