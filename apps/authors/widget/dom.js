const LANGUAGES = ["en", "de", "es", "fr", "ja", "ar"];

/** An element with attributes and `on…` listeners; children are nodes or text, never markup. */
export function h(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value != null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter(Boolean));
  return node;
}

/** A button of a class. */
export const button = (kind, label, onclick, props) =>
  h("button", { type: "button", class: kind, onclick, ...props }, label);

/** A link to another site's page. */
export const outward = (href, label) => href && h("a", { href, target: "_blank", rel: "noopener" }, label);

/** `pattern` with its {names} filled in. */
export const fill = (pattern, values) => pattern.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

/** A random id; also without https, where there is no randomUUID. */
export const uuid = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");

/** The table of words for the first of the language tags that has one, else English. */
export async function words(tags, folder = "./locales/") {
  const known = tags.map((tag) => `${tag}`.slice(0, 2).toLowerCase()).find((tag) => LANGUAGES.includes(tag));
  return (await import(`${folder}${known ?? "en"}.js`)).default;
}

/**
 * Takes what is in `holder` away; the returned function gives the focus back to where it came from, or
 * has `otherwise` take it where that is gone or never was.
 */
export function emptier(holder, otherwise) {
  let before = null;
  holder.addEventListener("focusin", ({ relatedTarget: from }) => { if (from && !holder.contains(from)) before = from; });
  return () => {
    const held = holder.matches(":focus-within");
    holder.replaceChildren();
    if (!held) return;
    if (before?.isConnected) before.focus({ preventScroll: true });
    else otherwise?.();
  };
}

/** What is announced when a card opens. */
export const hint = (strings, { hotkey }, what = strings.available) => what + (hotkey === "off" ? "" : ` ${strings.hotkey}`);
