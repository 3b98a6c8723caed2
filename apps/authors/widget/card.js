import { button, fill, h, words } from "./dom.js";
import { watchReading } from "./reading.js";

const UNDO_FOR = 5000;
const HELD_FOR = 20_000;
const EARLY_REPORTS = 3;
const LONGEST_QUOTE = 80;

/** What few people need, and its words: loaded when somebody does. */
export const parts = (lang) => Promise.all([import("./card-more.js"), words([lang], "./locales/more/")]);

/** The quoted place of the author's own words, if they are known; `range` counts code points. */
export function quoted(text, range) {
  if (!text || !range) return "";
  const [all, end] = [Array.from(text), Math.min(range[1], range[0] + LONGEST_QUOTE)];
  return all.slice(range[0], end).join("") + (all.length > end ? "…" : "");
}

/**
 * Shows a question on `stage`, without the focus, until it is done with. `hooks`: shown(ms), early(ms),
 * answer(content, onDelay), dismiss(how, val), undo(), stop(), show(), erase(), closed(wantsNext).
 */
export function openCard({ stage, question, quote, strings, terms, hooks }) {
  const { kind, min_ms: minimum = 0, survey: { n, of } = {}, lang, dir } = question;
  const came = performance.now();
  let phase = "asking"; // then sending, done, closed
  let notBefore = 0;
  let early = 0;
  let chosen, timer;

  const gate = h("span", { class: "gate", id: "lh-gate" });
  const card = h("section", {
    class: "card", role: "dialog", "aria-modal": "false", "aria-labelledby": "lh-asked", lang, dir,
    onkeydown: keys,
    // A click leaves the caret where the person is writing.
    onmousedown: (event) => event.target.closest("button") && event.preventDefault(),
  });
  const reading = watchReading(card, () => hooks.shown(Math.round(performance.now() - came)), refresh);

  const hasFocus = () => card.contains(stage.root.activeElement);
  const asked = (text) => h("p", { class: "asked", id: "lh-asked" }, text);
  const head = () => h("div", { class: "head" },
    h("span", { class: "small" }, of > 1 && fill(strings.of, { n, of })),
    button("cross", "×", () => leave("close"), { "aria-label": strings.close }));

  function focus() {
    // Not "undo": a key that is held a moment too long would take the answer back.
    const first = card.querySelector(".thanks>p,.choices>button,input,.way,pre,.pair>:last-child");
    (first ?? card.querySelector("button")).focus({ preventScroll: true });
    return true;
  }

  function put(...nodes) {
    const held = hasFocus();
    card.replaceChildren(...nodes.filter(Boolean));
    card.replaceWith(card); // as a new one it has not moved: a page's score counts what moves
    if (held) focus();
    refresh();
  }

  function close(said = "", wantsNext = false) {
    if (phase === "closed") return;
    const held = hasFocus();
    phase = "closed";
    reading.stop();
    clearInterval(timer);
    stage.clear();
    stage.announce(said);
    hooks.closed(wantsNext && held);
  }

  const remaining = () => Math.max(minimum - reading.ms(), notBefore - performance.now(), 0);

  function refresh() {
    const left = remaining();
    const told = left ? fill(strings.wait, { n: Math.ceil(left / 1000) }) : "";
    if (gate.textContent !== told) gate.textContent = told;
    for (const node of card.querySelectorAll(".choice, .gated")) {
      node.setAttribute("aria-disabled", left > 0 || phase !== "asking");
      node.toggleAttribute("data-chosen", node === chosen);
    }
  }

  async function commit(node, send) {
    if (phase !== "asking") return;
    phase = "sending";
    chosen = node;
    refresh();
    const result = await send((pause) => { notBefore = performance.now() + pause; });
    if (phase !== "sending") return;
    if (result.ok) thank(result);
    else if (result.code === "bad_field" || result.code === "too_long") ask(strings.failed);
    else notice(strings.gone, UNDO_FOR);
  }

  function answer(content, node, kb) {
    if (phase !== "asking" || !remaining()) {
      commit(node, (onDelay) => hooks.answer({ ...content, ms: reading.ms(), kb }, onDelay));
    } else if (early++ < EARLY_REPORTS) {
      hooks.early(reading.ms());
    }
  }

  function leave(how) {
    if (phase === "asking") hooks.dismiss(how);
    close();
  }

  async function more(name) {
    try {
      const [{ load }, own] = await parts(strings.lang);
      if (phase !== "asking") return;
      load({
        question, strings: { ...strings, ...own }, terms, put, head, asked, commit, answer, hooks, notice,
        back: () => ask(), card, stage, more,
      })[name]();
    } catch {
      if (phase === "asking") ask(strings.failed);
    }
  }

  function notice(text, stays, ...extra) {
    phase = "done";
    put(h("div", { class: "thanks" }, h("p", { id: "lh-asked", tabindex: "-1" }, text), ...extra), head());
    stage.announce(text);
    const since = performance.now();
    clearInterval(timer);
    timer = setInterval(() => {
      const passed = performance.now() - since;
      const hovered = !(n < of) && matchMedia("(hover: hover)").matches && card.matches(":hover");
      if (passed >= HELD_FOR || (passed >= stays && !hovered && !hasFocus())) close();
    }, 200);
  }

  function thank({ later, undo_ms: ms = UNDO_FOR }) {
    const undo = button("way", strings.undo, takeBack);
    setTimeout(() => { undo.ariaDisabled = "true"; }, ms);
    const next = n < of && button("way", strings.next, () => close("", true));
    notice(later ? strings.later : strings.saved, ms, undo, next);
  }

  async function takeBack({ currentTarget }) {
    if (currentTarget.ariaDisabled === "true") return;
    currentTarget.ariaDisabled = "true";
    if (!(await hooks.undo()).ok) return stage.announce(strings.failed);
    clearInterval(timer);
    ask(strings.undone);
  }

  function choices() {
    return (question.opts ?? []).map(({ id, label }, index) => {
      // A click without a pointer has the detail 0.
      const press = ({ currentTarget, detail }) => answer({ opt: id }, currentTarget, detail === 0);
      const props = { "aria-describedby": "lh-gate", "data-key": index + 1 };
      const node = button("choice", h("span", { dir: "auto" }, label), press, props);
      node.append(h("kbd", { "aria-hidden": "true" }, `${index + 1}`));
      return node;
    });
  }

  function reasons() {
    const { reward: amount } = question;
    return h("div", { class: "reasons" },
      amount && h("p", { class: "small" }, fill(strings.reward, { amount })),
      h("div", { class: "links" },
        button("link", strings.why, () => more("why")),
        button("link", strings.stop, () => { hooks.stop(); notice(strings.stopped, UNDO_FOR); }),
        button("link", strings.mine, () => more("mine"))));
  }

  function ask(said = "") {
    phase = "asking";
    chosen = null;
    put(
      head(),
      quote && h("blockquote", { dir: "auto" }, quote),
      asked(question.text),
      said && h("p", { class: "small" }, said),
      h("div", { class: "choices", role: "group", "aria-labelledby": "lh-asked" }, ...choices()),
      h("div", { class: "ways" },
        kind !== "word" && button("way", strings.nofit, () => more("nofit"), { "data-key": "0" }),
        button("way", strings.skip, () => leave("skip"), { "data-key": "s" }),
        gate),
      reasons(),
    );
    if (kind === "word") more("word");
    stage.announce(said);
  }

  function keys(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { key, target } = event;
    const wanted = `[data-key="${CSS.escape(key.toLowerCase())}"]`;
    const keyed = target.tagName === "INPUT" ? null : card.querySelector(wanted);
    if (key !== "Escape" && !keyed) return;
    event.preventDefault();
    if (keyed) keyed.click();
    else leave("esc");
  }

  ask();
  stage.show(card);
  return {
    focus,
    // What is answered keeps its undo; the server says what became of what is under way.
    retract: () => phase === "asking" && close(strings.gone),
    dismiss: () => leave("host"),
    close,
  };
}
