// The adjudication page of an item: highlights quotes, shows the selected answer, and marks evidence.
// Without this script the page is a plain form.
import { watchFresh } from "./review/fresh.js";
import { watchGuideline } from "./review/guideline.js";
import { rememberLabels, watchLabels } from "./review/labels.js";
import { Leases } from "./review/leases.js";
import { watchNone } from "./review/none.js";
import { words } from "./words.js";

const desk = document.querySelector("[data-desk]");
const hero = desk.querySelector("[data-hero]");
const opinions = [...desk.querySelectorAll("[data-opinion]")];
const began = performance.now();

function focusOpinion(opinion) {
  for (const each of opinions) each.toggleAttribute("data-on", each === opinion);
  const wanted = opinion?.dataset.opinion;
  for (const mark of hero.querySelectorAll("mark")) {
    mark.toggleAttribute("data-on", `, ${mark.dataset.label}`.includes(`, ${wanted}:`));
  }
  hero.toggleAttribute("data-focused", Boolean(opinion?.querySelector(".quotes")));
}

function step(by) {
  const now = opinions.findIndex((each) => "on" in each.dataset);
  const next = opinions[(Math.max(now, by < 0 ? 0 : -1) + by + opinions.length) % opinions.length];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
  focusOpinion(next);
}

function watchOpinions() {
  if (opinions.length > 1) desk.querySelector("[data-steps]").hidden = false;
  for (const button of desk.querySelectorAll("[data-step]")) {
    button.addEventListener("click", () => step(Number(button.dataset.step)));
  }
  for (const opinion of opinions) {
    for (const event of ["focusin", "click"]) opinion.addEventListener(event, () => focusOpinion(opinion));
  }
}

// Shows the selected answer on the button, and highlights the opinions that gave it.
const choices = [...desk.querySelectorAll("[name=value]")];
const none = desk.querySelector("[name=none]");

const chosenNow = () => choices.filter((each) => each.matches("textarea") ? each.value.trim() : each.checked);

function showChoice() {
  const chosen = chosenNow();
  const answer = none?.checked ? words("none-of-these") : chosen.map((each) => each.value).join(", ");
  desk.querySelector("[data-go-words]").textContent = answer ? words("decide", { answer }) : words("choose-answer");
  const names = JSON.stringify(chosen.map((each) => each.value).sort());
  for (const button of desk.querySelectorAll("[data-take]")) {
    const same = JSON.stringify(JSON.parse(button.dataset.take).sort()) === names;
    button.closest(".side").toggleAttribute("data-chosen", same && Boolean(answer));
  }
  for (const side of desk.querySelectorAll(".side[data-says]")) {
    side.toggleAttribute("data-chosen", chosen.some((each) => each.value === side.dataset.says));
  }
  if (answer) desk.querySelector("[data-complaint]").hidden = true;
}

function watchChoices() {
  watchNone(desk);
  desk.addEventListener("input", showChoice);
  for (const button of desk.querySelectorAll("[data-take]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const names = JSON.parse(button.dataset.take);
      for (const each of choices) {
        if (each.matches("textarea")) each.value = names[0] ?? "";
        else each.checked = names.includes(each.value);
      }
      if (none) none.checked = !names.length;
      showChoice();
    });
  }
  showChoice();
}

// Evidence: others' quotes have checkboxes, and quotes that the expert marks in the text are added here.
const own = desk.querySelector("[data-own]");
const mark = desk.querySelector("[data-mark]");
let marked = "";

function count() {
  const picked = desk.querySelectorAll("[name=quote]:checked").length;
  desk.querySelector("[data-picked]").textContent = picked ? words("picked", { number: picked }) : "";
  desk.querySelector("[data-mark-hint]").hidden = picked > 0 || !mark.hidden;
}

function labelFor() {
  const chosen = choices.find((each) => each.checked);
  return chosen?.value ?? "";
}

function addQuote(text, label = labelFor()) {
  const item = document.createElement("li");
  const pick = document.createElement("label");
  const box = document.createElement("input");
  const quote = document.createElement("q");
  pick.className = "quote-pick";
  Object.assign(box, { type: "checkbox", name: "quote", value: JSON.stringify([label, text]), checked: true });
  quote.textContent = text;
  quote.dir = "auto";
  pick.append(box, quote);
  item.append(pick);
  own.append(item);
}

function watchMarking() {
  desk.querySelector("[data-evidence]").hidden = false;
  document.addEventListener("selectionchange", () => {
    const selection = document.getSelection();
    const inText = selection.rangeCount && hero.contains(selection.getRangeAt(0).commonAncestorContainer);
    const text = inText ? selection.toString().trim() : "";
    if (!text && desk.contains(document.activeElement) && document.activeElement === mark) return;
    marked = text;
    mark.hidden = text.length < 2;
    desk.querySelector("[data-mark-words]").textContent = `“${text}”`;
    count();
  });
  // Pressing a button would clear the selection before the click.
  mark.addEventListener("pointerdown", (event) => event.preventDefault());
  mark.addEventListener("click", () => {
    if (marked) addQuote(marked);
    document.getSelection().removeAllRanges();
    mark.hidden = true;
    count();
  });
  desk.addEventListener("change", (event) => event.target.name === "quote" && count());
  count();
}

function watchDetails() {
  for (const details of desk.querySelectorAll("details")) {
    details.addEventListener("toggle", () => {
      if (!details.open) return;
      const field = details.querySelector("textarea");
      const why = desk.querySelector("[name=rationale]").value;
      if (field && "explain" in details.dataset && !field.value) field.value = why;
      field?.focus();
      if ("explain" in details.dataset) field?.select(); // to send unchanged, or to overwrite
      if (details.dataset.fetch) fetchOnce(details);
    });
  }
}

async function fetchOnce(details) {
  const address = details.dataset.fetch;
  delete details.dataset.fetch;
  const body = details.querySelector("[data-fetched]");
  try {
    const response = await fetch(address, { headers: { "X-Requested-With": "fetch" } });
    if (!response.ok) throw new Error(String(response.status));
    const html = await response.text();
    body.replaceChildren(document.createRange().createContextualFragment(html));
  } catch {
    details.dataset.fetch = address;
    body.textContent = words("not-loaded");
  }
}

function watchSending(leases) {
  desk.addEventListener("submit", (event) => {
    const plain = "plain" in (event.submitter?.dataset ?? {});
    if (!plain && !none?.checked && !chosenNow().length) {
      event.preventDefault();
      event.stopImmediatePropagation();
      const complaint = desk.querySelector("[data-complaint]");
      complaint.textContent = words(none ? "choose-label-first" : "choose-first");
      complaint.hidden = false;
      return;
    }
    if (!plain) rememberLabels(desk);
    desk.querySelector("[name=seconds]").value = ((performance.now() - began) / 1000).toFixed(1);
    // The answer needs its lease: leaving the page must not release it.
    leases?.drop(desk.dataset.lease);
  }, { capture: true });
  desk.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    desk.requestSubmit(desk.querySelector("[data-go]"));
  });
}

function hold() {
  if (!desk.dataset.lease) return null;
  const onLost = () => {
    const complaint = desk.querySelector("[data-complaint]");
    complaint.textContent = words("lease-lost");
    complaint.hidden = false;
  };
  const leases = new Leases({ renew: desk.dataset.renew, release: desk.dataset.release }, { onLost });
  leases.hold(desk.dataset.lease);
  return leases;
}

watchOpinions();
watchChoices();
// A browser that goes back ticks the labels again, after this script has run.
window.addEventListener("pageshow", showChoice);
watchMarking();
watchDetails();
watchLabels(desk);
watchGuideline(document.querySelector("[data-guideline]"));
watchFresh(desk);
watchSending(hold());
