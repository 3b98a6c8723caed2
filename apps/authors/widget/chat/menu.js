import { button, fill, h } from "../dom.js";
import { icon } from "./icon.js";

const DOTS = "M3 8h.01M8 8h.01M13 8h.01";

/** What one can do about one's data; `entries` are [label, act, whether it is offered]. */
export function createMenu(strings, entries) {
  const balance = h("p", { class: "small", hidden: true });
  const items = entries.map(([label, act]) => button("item", label, () => {
    toggle(false);
    act();
  }));
  const list = h("div", { class: "menu", id: "lh-menu", hidden: true }, balance, ...items);
  const opener = button("tool", icon(DOTS), () => toggle(list.hidden), {
    "aria-label": strings.menu, "aria-expanded": "false", "aria-controls": "lh-menu",
  });
  const node = h("div", { class: "about", onkeydown: keys, onfocusout: leave }, opener, list);

  function toggle(on) {
    list.hidden = !on;
    opener.ariaExpanded = `${on}`;
    items.forEach((item, index) => { item.hidden = !(entries[index][2]?.() ?? true); });
    if (on) items[0].focus();
  }

  function leave({ relatedTarget }) {
    if (!node.contains(relatedTarget)) toggle(false);
  }

  function keys(event) {
    if (list.hidden) return;
    const shown = items.filter(({ hidden }) => !hidden);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const place = shown.indexOf(event.target);
    if (step) shown.at((place + step) % shown.length).focus();
    else if (event.key !== "Escape") return;
    else {
      toggle(false);
      opener.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  }

  return {
    node,
    allow: (on) => { node.hidden = !on; },
    reward(reward) {
      balance.hidden = !reward;
      balance.textContent = reward ? fill(strings.balance, reward) : "";
    },
  };
}
