import { button, h, outward } from "./dom.js";

/** The site's words and `answers` ([scope or null, label] each, all of one weight); `choose(scope)`. */
export function consentCard({ site, consent: { text, why, privacy_url: url }, reward }, strings, answers, choose) {
  const small = (...content) => h("p", { class: "small", dir: "auto" }, ...content);
  return h(
    "section",
    { class: "card", role: "dialog", "aria-modal": "false", "aria-labelledby": "lh-consent" },
    small(site),
    h("p", { class: "terms", id: "lh-consent", dir: "auto" }, text),
    (why || url) && small(why, " ", outward(url, strings.privacy)),
    reward && small(reward.text),
    h("div", { class: "pair" }, ...answers.map(([scope, label]) => button("main", label, () => choose(scope)))),
  );
}
