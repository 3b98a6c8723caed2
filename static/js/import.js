// Selects a file that is dropped on the form. The form also works without this script.
const UNITS = ["bytes", "KB", "MB", "GB"];

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
  const zone = form.querySelector("[data-drop-zone]");
  const input = form.querySelector('input[type="file"]');
  const name = form.querySelector("[data-drop-name]");
  const show = () => {
    if (input.files.length) name.textContent = words(input.files[0]);
  };
  input.addEventListener("change", show);
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.dataset.over = "yes";
  });
  zone.addEventListener("dragleave", () => delete zone.dataset.over);
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    delete zone.dataset.over;
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    show();
  });
}

for (const form of document.querySelectorAll("form[data-drop]")) watchDrops(form);
