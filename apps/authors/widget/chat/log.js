import { button, h } from "../dom.js";
import { format } from "./format.js";
import { icon } from "./icon.js";

const DOWN = "M8 3v9.5M4 9l4 4 4-4";
const NEAR = 80; // pixels from the end within which the list follows what comes

/** The list of messages. `entry(mid, role)` finds or makes one; each has text(), state() and streaming(). */
export function createLog(strings, greeting) {
  const entries = new Map();
  const list = h("div", { class: "log", role: "log", "aria-label": strings.messages, tabindex: "0" });
  const jump = button("jump", icon(DOWN), down, { "aria-label": strings.newest, hidden: true });
  const typing = h("div", { class: "typing", "aria-hidden": "true", hidden: true }, h("i"), h("i"), h("i"));
  const node = h("div", { class: "scroll" }, list, jump);

  const away = () => list.scrollHeight - list.scrollTop - list.clientHeight > NEAR;
  list.addEventListener("scroll", () => { jump.hidden = !away(); }, { passive: true });

  function toEnd(always) {
    if (always) list.scrollTop = list.scrollHeight;
    jump.hidden = !away();
  }

  // The button goes; whoever pressed it by keyboard reads on.
  function down() {
    if (jump.matches(":focus")) list.focus({ preventScroll: true });
    toEnd(true);
  }

  // What goes with the focus on it, as "try again", leaves it to the list.
  function change(work) {
    const follow = !away();
    const held = list.matches(":focus-within");
    work();
    list.append(typing);
    if (held && !list.matches(":focus-within")) list.focus({ preventScroll: true });
    toEnd(follow);
  }

  function entry(mid, role) {
    if (entries.has(mid)) return entries.get(mid);
    const body = h("div", { class: "body" });
    const foot = h("div", { class: "foot" });
    const who = h("span", { class: "unseen" }, strings[role]);
    const item = h("article", { class: `message ${role}` }, who, body, foot);
    const made = {
      role,
      mid,
      content: "",
      text(text) {
        made.content = text;
        change(() => body.replaceChildren(...(role === "author" ? [h("p", { dir: "auto" }, text)] : format(text))));
      },
      /** What stands below: words, and what can be done. */
      state: (said = "", ...actions) => change(() => foot.replaceChildren(said, ...actions)),
      streaming(on) {
        item.toggleAttribute("data-streaming", on);
        list.setAttribute("aria-busy", `${on}`);
      },
      remove() {
        entries.delete(mid);
        change(() => item.remove());
      },
    };
    entries.set(mid, made);
    change(() => list.append(item));
    return made;
  }

  function clear() {
    entries.clear();
    list.replaceChildren();
    const hello = h("div", { class: "body" }, ...format(greeting ?? ""));
    if (greeting) list.append(h("article", { class: "message assistant" }, hello));
  }

  clear();
  return {
    node,
    entry,
    clear,
    entries,
    toEnd,
    atEnd: () => !away(),
    has: (mid) => entries.has(mid),
    put: (node) => change(() => list.append(node)),
    note: (text) => change(() => list.append(h("p", { class: "note" }, text))),
    typing: (on) => change(() => { typing.hidden = !on; }),
  };
}
