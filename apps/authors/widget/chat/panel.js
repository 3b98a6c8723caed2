import { button, emptier, h } from "../dom.js";
import { icon } from "./icon.js";

const CROSS = "M4 4l8 8M12 4l-8 8";
const BUBBLE = "M2.5 4.5a2 2 0 012-2h7a2 2 0 012 2v4.5a2 2 0 01-2 2H7L4 13.5V11a1.6 1.6 0 01-1.5-1.7z";
const PATIENCE = 2500; // ms without a socket before the person is told

/** The window of the chat and the button that opens it; `onOpen()` decides what it shows. */
export function createPanel({ surface, inline, strings, config, menu, log, composer, onOpen }) {
  const { title = config.site, matcher } = config.chat ?? {};
  const { frame, root } = surface;
  const banner = h("p", { class: "banner", role: "status" });
  const slot = h("div", { class: "slot" });
  const notice = h("p", { class: "notice" }, matcher ? strings.matcher : strings.ai);
  const talkView = h("div", { class: "talk" }, log.node, slot, composer.node, notice);
  const body = h("div", { class: "content" });
  const closer = inline ? null : button("tool", icon(CROSS), close, { "aria-label": strings.close });
  const dot = h("i", { class: "dot", hidden: true });
  const panel = h(
    "section",
    {
      class: "panel", role: inline ? "region" : "dialog", "aria-labelledby": "lh-title", hidden: true,
      onkeydown: keys,
    },
    h("div", { class: "top" }, h("p", { class: "title", id: "lh-title" }, title), menu.node, closer),
    banner,
    body,
  );
  const launcher = button("launcher", icon(BUBBLE), () => (panel.hidden ? open() : close()), {
    "aria-label": title, "aria-expanded": "false",
  });
  launcher.append(dot);
  frame.append(...(inline ? [panel] : [panel, launcher]));
  let timer = 0;

  const focusable = () => body.querySelector("textarea") ?? body.querySelector("button");

  function open() {
    if (!panel.hidden) return;
    panel.hidden = false;
    dot.hidden = true;
    launcher.ariaExpanded = "true";
    launcher.ariaLabel = title;
    onOpen();
    // A page may open the chat by itself; then the focus stays where it is.
    if (!inline && navigator.userActivation?.isActive) focusable()?.focus({ preventScroll: true });
  }

  function close() {
    if (inline || panel.hidden) return;
    const held = panel.contains(root.activeElement);
    panel.hidden = true;
    launcher.ariaExpanded = "false";
    if (held) launcher.focus({ preventScroll: true });
  }

  function keys(event) {
    if (event.key === "Escape" && !event.defaultPrevented && !event.isComposing) close();
  }

  function view(node) {
    const held = panel.contains(root.activeElement);
    body.replaceChildren(node);
    if (held) focusable()?.focus({ preventScroll: true });
  }

  function say(text) {
    clearTimeout(timer);
    banner.textContent = text;
  }

  function news() {
    if (!panel.hidden) return;
    dot.hidden = false;
    launcher.ariaLabel = `${title}: ${strings.news}`;
  }

  return {
    open,
    close,
    news,
    view,
    converse() {
      if (talkView.isConnected) return;
      view(talkView);
      log.toEnd(true);
    },
    /** The card of a question, between the messages and the composer. */
    showCard(card) {
      const follows = log.atEnd();
      slot.replaceChildren(card);
      if (follows) log.toEnd(true);
      news();
    },
    clearCard: emptier(slot, composer.focus),
    online(ready) {
      if (ready) say("");
      else timer = setTimeout(say, navigator.onLine ? PATIENCE : 0, strings.offline);
    },
    ended: () => say(strings.ended),
  };
}
