const SVG = "http://www.w3.org/2000/svg";

/** A decorative drawing of 16 × 16: one stroked path. */
export function icon(d) {
  const [svg, path] = ["svg", "path"].map((tag) => document.createElementNS(SVG, tag));
  path.setAttribute("d", d);
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.append(path);
  return svg;
}
