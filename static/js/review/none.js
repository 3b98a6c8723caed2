/** The choice of no label and the labels of a set exclude each other: selecting one deselects the other. */
export function watchNone(form) {
  form.addEventListener("input", ({ target }) => {
    if (!target.checked) return;
    const other = { none: "value", value: "none" }[target.name];
    for (const box of form.querySelectorAll(`input[type=checkbox][name="${other}"]`)) box.checked = false;
  });
}
