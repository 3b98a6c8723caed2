import { button, h } from "./dom.js";

const PATIENCE = 10_000; // what comes later is shown all the same

/** Everything that is kept about the person, as it comes from the server: a title, the text, what to do. */
export function dataParts(strings, title, exported, back) {
  const text = h("pre", { tabindex: "0", "aria-label": strings.show }, navigator.onLine ? strings.loading : strings.online);
  const save = button("main", strings.download, () => {
    const href = URL.createObjectURL(new Blob([text.textContent], { type: "application/json" }));
    h("a", { href, download: "my-data.json" }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }, { hidden: true });
  const patience = setTimeout(() => {
    if (navigator.onLine) text.textContent = strings.failed;
  }, PATIENCE);
  exported.then(({ ok, data }) => {
    clearTimeout(patience);
    text.textContent = ok ? JSON.stringify(data, null, 2) : strings.failed;
    save.hidden = !ok;
  });
  return [title, text, h("div", { class: "pair" }, save, button("main", strings.back, back))];
}
