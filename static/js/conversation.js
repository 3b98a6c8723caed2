// Links a debate's quotes and their places in the text, for mouse, focus and keys. A click on a quote
// goes to its place, a click on a place to the turn that quotes it. The page also works without this
// script.

import { words } from "./words.js";

const ALIKE = { "‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-" };

/** The text normalised for comparison (like apps/common/highlight.py), with the original position of each character. */
function fold(text) {
  let folded = "";
  const origin = [];
  let at = 0;
  for (const char of text) {
    const blank = /\s/u.test(char);
    if (!blank || !folded.endsWith(" ")) {
      const plain = blank ? " " : (ALIKE[char] ?? char).toLowerCase();
      folded += plain;
      for (let n = 0; n < plain.length; n += 1) origin.push(at);
    }
    at += char.length;
  }
  return { folded, origin };
}

/** The positions of marks in the text: [mark, from, to). */
function placesOf(text) {
  const places = [];
  let at = 0;
  for (const node of text.childNodes) {
    const end = at + node.textContent.length;
    if (node.nodeName === "MARK") places.push([node, at, end]);
    at = end;
  }
  return places;
}

/** The marks that a quote covers, at all of its places. */
function marksOf(phrase, { folded, origin }, places) {
  const wanted = fold(phrase).folded.trim();
  const found = new Set();
  if (wanted.length < 2) return found;
  for (let at = folded.indexOf(wanted); at >= 0; at = folded.indexOf(wanted, at + wanted.length)) {
    const from = origin[at];
    const to = origin[at + wanted.length - 1] + 1;
    for (const [mark, start, end] of places) if (start < to && from < end) found.add(mark);
  }
  return found;
}

const visible = (element) => element.getClientRects().length > 0;

function watchQuotes(debate, text) {
  const places = placesOf(text);
  const marks = places.map(([mark]) => mark);
  const folded = fold(text.textContent);
  const names = [...debate.querySelectorAll("[data-quoted-for]")];
  const quotes = [...debate.querySelectorAll("[data-quote]")];
  const covered = new Map(quotes.map((quote) => [quote, marksOf(quote.dataset.quote, folded, places)]));
  const saying = (mark) => quotes.filter((quote) => covered.get(quote).has(mark));
  for (const [quote, found] of covered) quote.toggleAttribute("data-nowhere", found.size === 0);

  // Tab stops here once; arrows move between places.
  marks.forEach((mark, at) => {
    mark.tabIndex = at ? -1 : 0;
    mark.setAttribute("role", "button");
    mark.title = mark.dataset.label;
    mark.setAttribute("aria-description", words("quoted", { label: mark.dataset.label }));
  });

  function show(on, said) {
    for (const mark of marks) mark.toggleAttribute("data-on", on.has(mark));
    for (const quote of quotes) quote.toggleAttribute("data-on", said.includes(quote));
    const labels = [...on].map((mark) => `, ${mark.dataset.label}, `);
    for (const name of names) {
      name.toggleAttribute("data-on", labels.some((label) => label.includes(`, ${name.dataset.quotedFor}, `)));
    }
  }

  function point(target) {
    const quote = target.closest?.("[data-quote]");
    const mark = target.closest?.("mark");
    const name = target.closest?.("[data-quoted-for]")?.dataset.quotedFor;
    if (quote) show(covered.get(quote), [quote]);
    else if (marks.includes(mark)) show(new Set([mark]), saying(mark));
    else if (name !== undefined) {
      const said = quotes.filter((each) => each.dataset.for === name);
      show(new Set(said.flatMap((each) => [...covered.get(each)])), said);
    }
  }

  function go(target) {
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: "nearest" });
    point(target);
  }

  let cameFrom = null;
  function follow(target) {
    const quote = target.closest?.("[data-quote]");
    const mark = target.closest?.("mark");
    if (quote) {
      const [first] = covered.get(quote);
      if (!first) return;
      cameFrom = quote;
      go(first);
      show(covered.get(quote), [quote]);
    } else if (marks.includes(mark)) {
      const said = saying(mark);
      const back = said.includes(cameFrom) ? cameFrom : (said.find(visible) ?? said[0]);
      cameFrom = null;
      if (!back) return;
      for (let part = back.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
      go(back);
    } else if (target.closest?.("[data-quoted-for]")) point(target);
  }

  for (const event of ["pointerover", "focusin"]) debate.addEventListener(event, (e) => point(e.target));
  debate.addEventListener("click", (event) => follow(event.target));
  text.addEventListener("keydown", (event) => {
    const at = marks.indexOf(event.target);
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) {
      const next = marks[(at + step + marks.length) % marks.length];
      marks[at].tabIndex = -1;
      next.tabIndex = 0;
      go(next);
    } else if (event.key === "Enter" || event.key === " ") follow(event.target);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

const debate = document.querySelector("[data-debate]");
const text = debate?.querySelector("[data-debate-text]");
if (text) watchQuotes(debate, text);
