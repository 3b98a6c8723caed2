import { moreCss } from "./card-more-styles.js";
import { dataParts } from "./data.js";
import { button, h, outward } from "./dom.js";

const LONGEST_WORD = 40;
const STAYS = 20_000;
const styled = new WeakSet();

function wordForm(strings, kind, send) {
  const trouble = h("p", { class: "small", id: "lh-trouble", role: "status" });
  const main = h("button", { class: `main ${kind}`, type: "submit" }, strings.send);
  const input = h("input", {
    maxlength: LONGEST_WORD, autocomplete: "off", autocapitalize: "off", enterkeyhint: "send",
    "aria-labelledby": "lh-asked", "aria-describedby": "lh-gate lh-trouble",
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

const ways = (...buttons) => h("div", { class: "ways" }, ...buttons);

// What a card can show besides its question. `put` shows it, `back()` is the question.
const views = ({ question, strings, terms, put, head, asked, commit, answer, hooks, notice, back, card, more }) => ({
  /** The answer to a question of the kind "word". */
  word() {
    const send = (val, node) => answer({ val }, node, true);
    card.querySelector(".choices").replaceChildren(wordForm(strings, "gated", send));
  },

  /** "None of these fit", and if the person likes, the word that would. */
  nofit() {
    const form = wordForm(strings, "", (val, node) => commit(node, () => hooks.dismiss("nofit", val || undefined)));
    put(head(), asked(strings.word), form, ways(button("way", strings.back, back)));
    card.querySelector("input").focus({ preventScroll: true });
  },

  /** What the site says about its questions. */
  why: () => put(head(), asked(strings.why),
    h("p", { dir: "auto" }, question.why || terms.why),
    h("p", { class: "small", dir: "auto" }, terms.text, " ", outward(terms.privacy_url, strings.privacy)),
    ways(button("way", strings.back, back))),

  /** What one can do about what is kept. */
  mine: () => put(head(), asked(strings.mine),
    h("div", { class: "choices" },
      button("main", strings.show, () => more("data")),
      button("main", strings.erase, () => more("sure"))),
    ways(button("way", strings.back, back))),

  /** Everything that is kept. */
  data: () => put(head(), ...dataParts(strings, asked(strings.show), hooks.show(), back)),

  /** Deleting what is kept: the one thing that cannot be undone is asked back. */
  sure() {
    const erase = button("main", strings.erase, async () => {
      const { ok, later, receipt } = await hooks.erase();
      const done = later ? strings.pending : `${strings.erased} ${receipt}`;
      notice(ok ? done : strings.failed, STAYS);
    });
    put(head(), asked(strings.sure), h("div", { class: "pair" }, erase, button("main", strings.keep, back)));
  },
});

/** The views of the card whose `tools` these are, with the look that only they need. */
export function load(tools) {
  const { stage } = tools;
  if (!styled.has(stage.root)) stage.style(moreCss);
  styled.add(stage.root);
  return views(tools);
}
