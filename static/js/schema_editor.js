// Adds, removes and moves rows of the label editor, and shows the fields of the chosen task. The
// server reads the same fields without this script.

import { words } from "./words.js";

// So many labels fit on a screen: a filter would be one thing more to read.
const FEW_ROWS = 9;

function readTask(editor) {
  const chosen = document.querySelector('[name="task"]:checked, select[name="task"]');
  return chosen ? chosen.value : editor.dataset.task;
}

function showTask(editor) {
  const task = readTask(editor);
  const bare = editor.dataset.unlabelled.split(" ").includes(task);
  const ordered = editor.dataset.ordered.split(" ").includes(task);
  editor.dataset.task = task;
  editor.toggleAttribute("data-without-points", Boolean(task) && !ordered);
  const labels = editor.querySelector("[data-needs-labels]");
  labels.hidden = bare;
  // Disabled fields are not sent, so that rows of another task do no harm. The formset's own
  // counters are hidden fields and are always sent.
  for (const field of labels.querySelectorAll(":is(input:not([type=hidden]), select, textarea)")) {
    field.disabled = bare;
  }
  editor.querySelector("[data-no-labels]").hidden = !bare;
}

function say(editor, text) {
  editor.querySelector("[data-said]").textContent = text;
}

function nameOf(row) {
  return row.querySelector('[name$="-name"]').value || words("unnamed");
}

// Rows that fold: the heading follows the name.
function watchHeading(row) {
  const heading = row.querySelector("[data-row-name]");
  const name = row.querySelector('[name$="-name"]');
  if (heading) name.addEventListener("input", () => { heading.textContent = name.value || words("new"); });
}

function watchFilter(editor, rows) {
  const filter = editor.querySelector("[data-row-filter]");
  if (!filter || liveRows(rows).length < FEW_ROWS) return;
  filter.hidden = false;
  filter.addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    for (const row of liveRows(rows)) {
      row.toggleAttribute("data-filtered", !nameOf(row).toLowerCase().includes(wanted));
    }
  });
  // Enter would save the form.
  filter.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
}

function prepare(row) {
  watchHeading(row);
  row.querySelector("[data-tools]").hidden = false;
  row.querySelector("[data-plain-remove]").hidden = true;
  row.querySelector("[data-restore]")?.removeAttribute("hidden");
}

function removal(row) {
  return row.querySelector('[name$="-DELETE"]');
}

function liveRows(rows) {
  return [...rows.querySelectorAll("[data-label-row]")].filter((row) => !row.hidden && !removal(row).checked);
}

// Rows of values of a file: those of one name are one label.
function showMerged(rows) {
  const seen = new Set();
  for (const row of liveRows(rows)) {
    const name = row.querySelector('[name$="-name"]').value.trim().normalize("NFKC").toLowerCase();
    row.classList.toggle("label-row--merged", Boolean(name) && seen.has(name));
    seen.add(name);
  }
}

function addRow(editor, rows) {
  const total = editor.querySelector('[name="label-TOTAL_FORMS"]');
  const holder = document.createElement("template");
  const pattern = editor.querySelector("template[data-empty-row]").innerHTML;
  holder.innerHTML = pattern.replaceAll("__prefix__", total.value);
  const row = holder.content.querySelector("[data-label-row]");
  total.value = String(Number(total.value) + 1);
  prepare(row);
  rows.append(row);
  row.querySelector("details[name]")?.setAttribute("open", "");
  row.querySelector('[name$="-name"]').focus();
}

function setRemoved(row, removed) {
  removal(row).checked = removed;
  removal(row).dispatchEvent(new Event("change", { bubbles: true }));
}

function removeRow(editor, rows, row) {
  const all = liveRows(rows);
  const next = all[all.indexOf(row) + 1] ?? all[all.indexOf(row) - 1];
  setRemoved(row, true);
  row.hidden = !row.querySelector("[data-restore]");
  say(editor, words("removed", { name: nameOf(row) }));
  (next?.querySelector(':is(details[name] > summary, [name$="-name"])') ?? editor.querySelector("[data-add]")).focus();
}

function moveRow(editor, rows, row, step, button) {
  const all = liveRows(rows);
  const other = all[all.indexOf(row) + step];
  if (!other) return;
  if (step < 0) other.before(row);
  else other.after(row);
  button.focus();
  say(editor, words("moved", { name: nameOf(row), number: liveRows(rows).indexOf(row) + 1 }));
}

// Do not number empty rows: they would count as changed and require a name.
function number(rows) {
  const filled = (field) => field.type !== "hidden" && field.type !== "checkbox" && field.value;
  liveRows(rows).forEach((row, at) => {
    const used = [...row.querySelectorAll("input, textarea")].some(filled);
    row.querySelector('[name$="-ORDER"]').value = used ? String(at + 1) : "";
  });
}

function watchEditor(editor) {
  const rows = editor.querySelector("[data-rows]");
  const add = editor.querySelector("[data-add]");
  add.hidden = false;
  add.addEventListener("click", () => addRow(editor, rows));
  liveRows(rows).forEach(prepare);
  // Empty rows that fold are for browsers without scripts; here a button adds them.
  for (const row of liveRows(rows)) {
    row.hidden = Boolean(row.querySelector("details[name]")) && !row.querySelector('[name$="-name"]').value;
  }
  watchFilter(editor, rows);
  rows.addEventListener("change", () => showMerged(rows));
  showMerged(rows);
  rows.addEventListener("click", (event) => {
    const row = event.target.closest("[data-label-row]");
    const move = event.target.closest("[data-move]");
    if (move) moveRow(editor, rows, row, Number(move.dataset.move), move);
    if (event.target.closest("[data-remove]")) removeRow(editor, rows, row);
    if (event.target.closest("[data-restore]")) setRemoved(row, false);
  });
  editor.form.addEventListener("submit", () => number(rows));
  document.addEventListener("change", (event) => {
    if (event.target.name === "task") showTask(editor);
  });
  showTask(editor);
}

function shorten(name) {
  const plain = name.replaceAll("ß", "ss").normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, "-").slice(0, 60).replace(/^-+|-+$/g, "");
}

function watchName() {
  const [name, slug] = ["id_name", "id_slug"].map((id) => document.getElementById(id));
  if (!name || !slug || slug.value) return;
  let own = false;
  slug.addEventListener("input", () => { own = slug.value !== ""; });
  name.addEventListener("input", () => { if (!own) slug.value = shorten(name.value); });
}

document.querySelectorAll("[data-schema-editor]").forEach(watchEditor);
watchName();
