const TEXT = 4.5;
const SHAPE = 3;

// The channels 0–1 of any opaque CSS colour, else null.
function channels(frame, colour) {
  const probe = document.createElement("span");
  probe.style.color = `color-mix(in srgb, ${colour}, ${colour})`;
  frame.append(probe);
  const found = getComputedStyle(probe).color.match(/^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)\)$/);
  probe.remove();
  return found?.slice(1).map(Number);
}

function luminance(rgb) {
  const [r, g, b] = rgb.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/**
 * Puts the host's --lh-… colours on `frame` as far as they can be read; of fg and bg both or none.
 * What is not set stays as the stylesheet has it.
 */
export function applyTheme(host, frame) {
  for (const name of ["bg", "fg", "muted", "border", "accent", "on-accent"]) frame.style.removeProperty(`--${name}`);
  const [given, own] = [getComputedStyle(host), getComputedStyle(frame)];
  const ours = (name) => own.getPropertyValue(`--${name}`).trim();
  const wanted = (name) => given.getPropertyValue(`--lh-${name}`).trim() || ours(name);
  const readable = (one, other, least) => {
    const both = [channels(frame, one), channels(frame, other)];
    if (!both[0] || !both[1]) return false;
    const [low, high] = both.map(luminance).sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05) >= least;
  };

  const pair = [wanted("bg"), wanted("fg")];
  const [bg, fg] = readable(...pair, TEXT) ? pair : [ours("bg"), ours("fg")];
  const best = (name, least) => [wanted(name), ours(name)].find((one) => readable(one, bg, least)) ?? fg;
  const accent = best("accent", SHAPE);
  const on = ["#fff", "#000"].find((one) => readable(one, accent, TEXT));
  const colours = { bg, fg, muted: best("muted", TEXT), border: best("border", SHAPE), accent, "on-accent": on };
  for (const [name, colour] of Object.entries(colours)) frame.style.setProperty(`--${name}`, colour);
}
