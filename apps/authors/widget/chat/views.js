import { dataParts } from "../data.js";
import { button, h } from "../dom.js";
import { format } from "./format.js";

/** Before consent: the greeting, and the card that asks. */
export function gateView({ chat }, card) {
  return h("div", { class: "gate-view" }, h("div", { class: "body" }, ...format(chat?.greeting ?? "")), card);
}

/** Everything that is kept about the person. */
export function dataView(strings, exported, back) {
  return h("section", { class: "view", "aria-label": strings.show },
    ...dataParts(strings, h("p", { class: "asked" }, strings.show), exported, back));
}

/** The last question before everything is deleted. */
export function sureView(strings, erase, back) {
  const trouble = h("p", { class: "small", role: "status" });
  const act = async () => {
    const erasing = erase();
    if (!navigator.onLine) trouble.textContent = strings.pending;
    const { ok } = await erasing;
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
