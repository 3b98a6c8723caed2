import { button, h } from "../dom.js";
import { format } from "./format.js";

/** Before consent: the greeting, and the card that asks. */
export function gateView({ chat }, card) {
  return h("div", { class: "gate-view" }, h("div", { class: "body" }, ...format(chat?.greeting ?? "")), card);
}

/** Everything that is kept about the person, as it comes from the server. */
export function dataView(strings, exported, back) {
  const text = h("pre", { tabindex: "0" }, strings.loading);
  const save = button("main", strings.download, () => {
    const href = URL.createObjectURL(new Blob([text.textContent], { type: "application/json" }));
    h("a", { href, download: "my-data.json" }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }, { hidden: true });
  exported.then(({ ok, data }) => {
    text.textContent = ok ? JSON.stringify(data, null, 2) : strings.failed;
    save.hidden = !ok;
  });
  return h("section", { class: "view", "aria-label": strings.show },
    h("p", { class: "asked" }, strings.show),
    text,
    h("div", { class: "pair" }, save, button("main", strings.back, back)));
}

/** The last question before everything is deleted. */
export function sureView(strings, erase, back) {
  const trouble = h("p", { class: "small", role: "status" });
  const act = async () => {
    const { ok } = await erase();
    if (!ok) trouble.textContent = strings.failed;
  };
  return h("section", { class: "view", "aria-label": strings.erase },
    h("p", { class: "asked" }, strings.sure), trouble,
    h("div", { class: "pair" }, button("main", strings.erase, act), button("main", strings.keep, back)));
}

/** What is left afterwards: the receipt. */
export function erasedView(strings, receipt, restart) {
  return h("section", { class: "view", "aria-label": strings.erase },
    h("p", { role: "status" }, `${strings.erased} ${receipt}`),
    h("div", { class: "pair" }, button("main", strings.restart, restart)));
}
