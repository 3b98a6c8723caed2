import { button, h } from "./dom.js";

const LONGEST_WORD = 40;
const STAYS = 20_000;

function wordForm(strings, name, kind, send) {
  const trouble = h("p", { class: "small", id: "lh-trouble", role: "status" });
  const main = h("button", { class: `main ${kind}`, type: "submit" }, strings.send);
  const input = h("input", {
    ...name, maxlength: LONGEST_WORD, autocomplete: "off", autocapitalize: "off", enterkeyhint: "send",
    "aria-describedby": "lh-gate lh-trouble",
  });
  return h("form", {
    class: "word",
    onsubmit(event) {
      event.preventDefault();
      const word = input.value.trim();
      const fits = word ? !/\s/.test(word) : kind !== "gated";
      trouble.textContent = fits ? "" : strings.one;
      if (fits) send(word, main);
    },
  }, h("div", { class: "pair" }, input, main), trouble);
}

/** The answer to a question of the kind "word". */
export function word({ strings, answer, card }) {
  const send = (val, node) => answer({ val }, node, true);
  const form = wordForm(strings, { "aria-labelledby": "lh-asked" }, "gated", send);
  card.querySelector(".choices").replaceChildren(form);
}

/** "None of these fit", and if the person likes, the word that would. */
export function nofit({ strings, put, head, asked, commit, hooks, back, card }) {
  const form = wordForm(strings, { "aria-labelledby": "lh-asked" }, "", (val, node) =>
    commit(node, () => hooks.dismiss("nofit", val || undefined)));
  put(head(), asked(strings.word), form, h("div", { class: "ways" }, button("way", strings.back, back)));
  card.querySelector("input").focus({ preventScroll: true });
}

/** Deleting what is kept: the one thing that cannot be undone is asked back. */
export function sure({ strings, put, head, asked, hooks, notice, back }) {
  const erase = button("main", strings.erase, async () => {
    const { ok, later, receipt } = await hooks.erase();
    notice(ok && !later ? `${strings.erased} ${receipt}` : strings.failed, STAYS);
  });
  put(head(), asked(strings.sure), h("div", { class: "pair" }, erase, button("main", strings.keep, back)));
}
