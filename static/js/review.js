// The review page. Loads the next item while the current one is read, and sends answers in the
// background. Without this script every button is an ordinary form.
import { Drafts } from "./review/drafts.js";
import { watchGuideline } from "./review/guideline.js";
import { post, Refused, SignedOut } from "./review/http.js";
import { Leases } from "./review/leases.js";
import { Outbox } from "./review/outbox.js";
import { Task } from "./review/task.js";
import { toast } from "./toast.js";
import { words } from "./words.js";

const bar = document.querySelector("[data-review]");
const stage = document.querySelector("[data-stage]");
const saved = document.querySelector("[data-saved]");
const announce = document.querySelector("[data-announce]");

let task = null; // shown now
const ahead = []; // leased, not shown yet
let fetching = null;

const leases = new Leases(bar.dataset, { onLost: lost });
const drafts = new Drafts(bar.dataset.draftUrl);
const outbox = new Outbox(`labelhub.review.${bar.dataset.project}.${bar.dataset.user}`, {
  onState: showState,
  onSaved: tellReplaced,
  onRefused: bringBack,
});

function showState(state, told) {
  saved.dataset.state = state;
  saved.textContent = { saving: words("saving"), saved: told, failed: told, refused: words("not-saved") }[state] ?? "";
}

function parse(html) {
  const pattern = document.createElement("template");
  pattern.innerHTML = html; // escaped by the server
  return pattern.content.firstElementChild;
}

const counted = (name) => Number(document.querySelector(`[data-count=${name}]`).textContent);

function count(name, step) {
  document.querySelector(`[data-count=${name}]`).textContent = String(Math.max(0, counted(name) + step));
  const gold = document.querySelector("[data-count=gold]");
  if (gold) {
    // Items with gold come last.
    gold.textContent = String(Math.min(counted("gold"), counted("waiting")));
    gold.parentElement.hidden = counted("gold") === 0;
  }
  const meter = document.querySelector("[data-progress]");
  meter.max = counted("done") + counted("waiting") || 1;
  meter.value = counted("done");
}

function progress(step) {
  count("done", step);
  count("waiting", -step);
}

function show(next) {
  task = next;
  leases.hold(task.token);
  drafts.watch(task);
  stage.replaceChildren(task.form);
  stage.removeAttribute("aria-busy");
  task.watch(!document.hidden);
  window.scrollTo({ top: 0 });
  task.appear();
  task.form.querySelector("[data-hero]").focus({ preventScroll: true });
  announce.textContent = words("next-item", { text: task.form.querySelector("[data-hero]").textContent.slice(0, 300) });
  prefetch();
}

/** One more item, unless one is leased already; resolves to it or null. */
function prefetch() {
  if (ahead.length) return Promise.resolve(ahead[0]);
  fetching ??= outbox.idle.then(claim).finally(() => { fetching = null; });
  return fetching;
}

async function claim() {
  if (ahead.length) return ahead[0];
  try {
    const besides = [...leases.held].map((token) => ["lease", token]);
    const response = await post(bar.dataset.next, besides, "text/html");
    if (response.status === 204) return null;
    const next = new Task(parse(await response.text()));
    leases.hold(next.token);
    ahead.push(next);
    return next;
  } catch (error) {
    if (error instanceof SignedOut) toast(words("signed-out-here"), "bad");
    return undefined; // unknown, not empty
  }
}

async function advance() {
  task = null;
  drafts.watch(null);
  if (ahead.length) return show(ahead.shift());
  stage.setAttribute("aria-busy", "true");
  // Ask twice before "nothing left". The last answer must be stored before, or its item would still
  // count as leased here and come again.
  const found = await prefetch() ?? await prefetch();
  if (task) return undefined; // an undo came first
  if (found) return show(ahead.shift());
  return found === null ? showEnd() : showTrouble();
}

async function showEnd() {
  try {
    const response = await fetch(bar.dataset.statusUrl, { credentials: "same-origin" });
    if (!response.ok || response.redirected) throw new Error(String(response.status));
    stage.replaceChildren(parse(await response.text()));
    // Other tabs may have added answers.
    count("done", Number(stage.firstElementChild.dataset.doneToday) - counted("done"));
    localTimes();
    stage.removeAttribute("aria-busy");
    stage.firstElementChild.focus();
    announce.textContent = stage.querySelector("h2").textContent;
  } catch {
    showTrouble();
  }
}

function showTrouble() {
  stage.removeAttribute("aria-busy");
  toast(words("next-failed"), "warn");
  setTimeout(() => task ?? advance(), 4000);
}

/** Count an item once, also after an answer in another tab or if it was sent back. */
function tellReplaced(told) {
  if (!told.replaced) return;
  toast(told.message, "info");
  progress(-1);
}

/** Show a refused answer again, with the server's message. */
function bringBack(reason, entry, code) {
  toast(words("not-saved-because", { reason }), "bad");
  // The page shows the old labels: reload the item when the message has been read.
  if (code === "labels_changed") setTimeout(() => location.reload(), 4000);
  if (!entry.extra?.task) return undefined;
  if (code === "not_found") return count("done", -entry.extra.step); // the item was deleted
  progress(-entry.extra.step);
  if (task) ahead.unshift(task);
  return show(entry.extra.task);
}

function lost(token) {
  const at = ahead.findIndex((one) => one.token === token);
  if (at >= 0) ahead.splice(at, 1);
  if (task?.token === token) {
    toast(words("lease-lost"), "warn");
  }
}

function localTimes() {
  for (const time of document.querySelectorAll("[data-local-time]")) {
    time.textContent = new Date(time.dateTime).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  }
}

async function undo() {
  await outbox.idle;
  try {
    const told = await (await post(bar.dataset.undoUrl, [])).json();
    showState("saved", told.message);
    const left = told.action === "skip" || told.rejected;
    if (told.undone) progress(left || told.action === "postpone" ? 0 : -1);
    if (left) count("waiting", 1);
    if (!told.html) return;
    if (task) ahead.unshift(task);
    show(new Task(parse(told.html)));
  } catch (error) {
    toast(error instanceof Refused ? error.message : words("undo-failed"), "bad");
  }
}

stage.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-task]")) return;
  event.preventDefault();
  // While the next item is loading, a second Enter must not submit the form again and leave the page.
  if (!task || event.target !== task.form) return;
  const sent = task.answer(event.submitter);
  if (!sent) return;
  const step = sent.skips ? 0 : 1;
  leases.drop(task.token); // the server ends it with the answer
  progress(step);
  if (sent.leaves) count("waiting", -1);
  outbox.add(sent.url, sent.pairs, { task, step });
  advance();
});

const undoForm = document.querySelector("[data-undo]");
bar.dataset.undoUrl = undoForm.getAttribute("action");
undoForm.addEventListener("submit", (event) => {
  event.preventDefault();
  if (task?.rejecting) task.takeRejectionBack();
  else undo();
});

document.addEventListener("visibilitychange", () => task?.watch(!document.hidden));
window.addEventListener("pagehide", () => outbox.leave());
window.addEventListener("pageshow", (event) => event.persisted && location.reload());

localTimes();
watchGuideline(document.querySelector("[data-guideline]"));
const first = stage.querySelector("[data-task]");
if (first) show(new Task(first));
