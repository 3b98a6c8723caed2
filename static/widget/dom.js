const SVG = "http://www.w3.org/2000/svg";
export const CROSS = "M4 4l8 8M12 4l-8 8";
export const TICK = "M3 8.5l3.2 3.2L13 5";

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

/** A decorative drawing of 16 × 16: one stroked path. */
export function icon(d) {
  const [svg, path] = ["svg", "path"].map((tag) => document.createElementNS(SVG, tag));
  path.setAttribute("d", d);
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.append(path);
  return svg;
}

/** A button of a class. */
export const button = (kind, label, onclick, props) =>
  h("button", { type: "button", class: kind, onclick, ...props }, label);

/** A link to another site's page. */
export const outward = (href, label) => href && h("a", { href, target: "_blank", rel: "noopener" }, label);

/** `pattern` with its {names} filled in. */
export const fill = (pattern, values) => pattern.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

/** A random id. */
export function uuid() {
  // Without https there is no randomUUID; any id of 128 random bits will do.
  const parts = crypto.getRandomValues(new Uint32Array(4));
  return crypto.randomUUID?.() ?? Array.from(parts, (part) => part.toString(16).padStart(8, "0")).join("-");
}

/** The table of words for the first of the language tags that has one, else English. */
export async function words(tags, folder = "./locales/") {
  const found = tags.map((tag) => /^(en|de|es|fr|ja|ar)\b/i.exec(tag)?.[0].toLowerCase()).find(Boolean);
  return (await import(`${folder}${found ?? "en"}.js`)).default;
}

/** What is announced when a card opens. */
export const hint = (strings, { hotkey }) => strings.available + (hotkey === "off" ? "" : ` ${strings.hotkey}`);
