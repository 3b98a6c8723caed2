// Sends a dropped or chosen file, and reads a file again when its columns are chosen anew. The forms
// also work without this script.
const UNITS = ["bytes", "KB", "MB", "GB"];
const FOCUS = "labelhub-column";

function words(file) {
  let size = file.size;
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${file.name}, ${unit ? size.toFixed(1) : size} ${UNITS[unit]}`;
}

function watchDrops(form) {
  const input = form.querySelector('input[type="file"]');
  const name = form.querySelector("[data-drop-name]");
  const button = form.querySelector("[data-drop-button]");
  button.hidden = true;
  const send = () => {
    if (!input.files.length) return;
    name.textContent = words(input.files[0]);
    form.requestSubmit();
  };
  input.addEventListener("change", send);
  form.addEventListener("dragover", (event) => {
    event.preventDefault();
    form.dataset.over = "yes";
  });
  form.addEventListener("dragleave", () => delete form.dataset.over);
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    delete form.dataset.over;
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    send();
  });
}

function watchColumns(columns) {
  const again = columns.querySelector("[data-again]");
  again.hidden = true;
  columns.addEventListener("change", (event) => {
    sessionStorage.setItem(FOCUS, event.target.id);
    again.form.requestSubmit(again);
  });
  const last = sessionStorage.getItem(FOCUS);
  sessionStorage.removeItem(FOCUS);
  if (last) document.getElementById(last)?.focus();
}

document.querySelectorAll("form[data-drop]").forEach(watchDrops);
document.querySelectorAll("[data-columns]").forEach(watchColumns);
