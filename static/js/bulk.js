// Selects items, names their number and shortens addresses. The page also works without this script.
function watchSelection(form) {
  const ticks = [...document.querySelectorAll("[data-tick]")];
  const page = document.querySelector("[data-tick-all]");
  const all = document.querySelector("[data-all]");
  const count = form.querySelector("[data-count]");
  let last = null;
  let current = null;
  let shift = false;
  const show = () => {
    const n = ticks.filter((tick) => tick.checked).length;
    const total = all.checked ? count.dataset.all : count.dataset.some.replace("{number}", n);
    if (count.textContent !== total) count.textContent = total;
    page.checked = n > 0 && n === ticks.length;
    page.indeterminate = n > 0 && n < ticks.length;
    for (const tick of ticks) tick.closest("tr").setAttribute("aria-selected", String(all.checked || tick.checked));
  };
  // The key selects the row that has the focus, or the one under the pointer.
  const visit = (row) => {
    const tick = row?.querySelector("[data-tick]");
    if (!tick || tick === current) return;
    current?.removeAttribute("data-key");
    tick.dataset.key = "x";
    current = tick;
  };
  const select = (tick) => {
    // Shift selects everything between this item and the one that was selected before.
    const range = shift && last ? [ticks.indexOf(last), ticks.indexOf(tick)].sort((a, b) => a - b) : null;
    if (range) for (const between of ticks.slice(range[0], range[1] + 1)) between.checked = tick.checked;
    last = tick;
    all.checked = false;
  };
  document.addEventListener("keydown", (event) => { shift = event.shiftKey; }, { capture: true });
  document.addEventListener("keydown", (event) => {
    const row = event.target.closest?.(".items-table tbody tr");
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (!row || !step) return;
    event.preventDefault();
    row[step]?.querySelector("th a").focus();
  });
  document.addEventListener("pointerdown", (event) => { shift = event.shiftKey; }, { capture: true });
  document.addEventListener("focusin", (event) => visit(event.target.closest?.(".items-table tbody tr")));
  document.addEventListener("pointerover", (event) => visit(event.target.closest?.(".items-table tbody tr")));
  document.addEventListener("click", (event) => {
    const tick = event.target.closest?.("[data-tick]");
    if (tick) select(tick);
    if (tick || event.target === all) show();
  });
  page.addEventListener("change", () => {
    for (const tick of ticks) tick.checked = page.checked;
    all.checked = false;
    show();
  });
  form.addEventListener("reset", () => setTimeout(show));
  visit(ticks[0]?.closest("tr"));
  show();
}

// Leave empty fields out of the address; the search for selected items, or these for all results.
function dropEmpty(form) {
  form.addEventListener("formdata", ({ formData }) => {
    const all = formData.getAll("only").includes("all");
    for (const [name, value] of [...formData.entries()]) {
      const ofSelection = ["only", "item"].includes(name);
      const needless = form.id === "bulk" && (all ? ofSelection : !ofSelection && name !== "do");
      if (value === "" || needless) formData.delete(name);
    }
  });
}

const bulk = document.getElementById("bulk");
if (bulk) watchSelection(bulk);
for (const form of document.querySelectorAll("form[data-drops-empty]")) dropEmpty(form);
