// Sends a dropped or chosen file, and reads a file again when its columns are chosen anew. The forms
// also work without this script.
const FOCUS = "labelhub-column";

function watchDrops(form) {
  const input = form.querySelector('input[type="file"]');
  const name = form.querySelector("[data-drop-name]");
  const button = form.querySelector("[data-drop-button]");
  button.hidden = true;
  const send = () => {
    if (!input.files.length) return;
    name.textContent = input.files[0].name;
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
