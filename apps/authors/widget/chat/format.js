import { h } from "../dom.js";

const INLINE = /(\*\*[^*\n]+\*\*|`[^`\n]+`)/;
const BULLET = /^\s*[-*•]\s+/;
const NUMBER = /^\s*\d+[.)]\s+/;

function marked(text) {
  return text.split(INLINE).map((part, index) => {
    if (index % 2 === 0) return part;
    return part.startsWith("`") ? h("code", {}, part.slice(1, -1)) : h("strong", {}, part.slice(2, -2));
  });
}

function listed(tag, mark, lines) {
  return h(tag, {}, ...lines.map((line) => h("li", { dir: "auto" }, ...marked(line.replace(mark, "")))));
}

function block(lines) {
  if (lines.every((line) => BULLET.test(line))) return listed("ul", BULLET, lines);
  if (lines.every((line) => NUMBER.test(line))) return listed("ol", NUMBER, lines);
  return h("p", { dir: "auto" }, ...marked(lines.join("\n")));
}

// Lines of one kind belong together; an empty line ends what was.
function blocks(text) {
  const found = [];
  let kind = null;
  for (const line of text.split("\n")) {
    const own = !line.trim() ? null : [BULLET, NUMBER].find((mark) => mark.test(line)) ?? "text";
    if (own && own === kind) found.at(-1).push(line);
    else if (own) found.push([line]);
    kind = own;
  }
  return found.map(block);
}

/**
 * An assistant's text as nodes: paragraphs, lists, **bold** and code. Everything else, markup and
 * links too, stays the text it is: a model's links are not to be trusted.
 */
export function format(text) {
  return text.split("```").flatMap((part, index) =>
    (index % 2 ? h("pre", { tabindex: "0" }, part.replace(/^\w*\n/, "").trimEnd()) : blocks(part)));
}
