// Selects items and shortens addresses. The page also works without this script.
function watchTicks(form) {
  const ticks = [...document.querySelectorAll("[data-tick]")];
  const all = document.querySelector("[data-tick-all]");
  const count = form.querySelector("[data-count]");
  const ticked = form.querySelector("[data-ticked]");
  let last = null;
  const show = () => {
    const n = ticks.filter((tick) => tick.checked).length;
    count.textContent = n ? `(${n})` : "";
    if (all) {
      all.checked = n > 0 && n === ticks.length;
      all.indeterminate = n > 0 && n < ticks.length;
    }
    for (const tick of ticks) tick.closest("tr")?.setAttribute("aria-selected", String(tick.checked));
  };
  document.addEventListener("click", (event) => {
    const tick = event.target.closest?.("[data-tick]");
    if (!tick) return;
    // Shift selects everything between this item and the one that was clicked before.
    if (event.shiftKey && last) {
      const [from, to] = [ticks.indexOf(last), ticks.indexOf(tick)].sort((a, b) => a - b);
      for (const each of ticks.slice(from, to + 1)) each.checked = tick.checked;
    }
    last = tick;
    ticked.checked = true;
    show();
  });
  all?.addEventListener("change", () => {
    for (const tick of ticks) tick.checked = all.checked;
    ticked.checked = true;
    show();
  });
  show();
}

// Leave empty fields out of the address, and selected items if the action is for all results.
function dropEmpty(form) {
  form.addEventListener("formdata", ({ formData }) => {
    const all = form.querySelector("[data-all]")?.checked;
    if (form.querySelector("[data-ticked]")?.checked) {
      for (const name of [...formData.keys()]) {
        if (!["only", "do", "item"].includes(name)) formData.delete(name);
      }
    }
    for (const [name, value] of [...formData.entries()]) {
      if (value === "" || (all && name === "item")) formData.delete(name);
    }
  });
}

const bulk = document.getElementById("bulk");
if (bulk) watchTicks(bulk);
for (const form of document.querySelectorAll("form[data-drops-empty]")) dropEmpty(form);
