import { emptier, h } from "./dom.js";
import { css } from "./styles.js";

const KEYS = ["keydown", "keyup", "keypress"];
const CORNERS = ["bottom-right", "bottom-left", "top-right", "top-left"];
const THEMED = ["bg", "fg", "muted", "border", "accent"];

const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/**
 * The widget's element, at the end of what `home()` finds: `frame` holds cards and panels, the status
 * region is there from the start, and a floating card keeps off what has the focus in the page.
 */
export function createSurface({ options, strings, nonce, more = "", home = () => document.documentElement }) {
  const host = h("labelhub-widget");
  const root = host.attachShadow({ mode: "open" });
  const status = h("div", { class: "unseen", role: "status" });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const { theme } = options;
  const usual = CORNERS[strings.dir === "rtl" ? 1 : 0];
  const position = CORNERS.includes(options.position) ? options.position : usual;
  const frame = h("div", { class: "frame", lang: strings.lang, dir: strings.dir, "data-at": position });
  root.append(status, frame);

  // The nonce is for browsers without constructable sheets.
  if (root.adoptedStyleSheets) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css + more);
    root.adoptedStyleSheets = [sheet];
  } else {
    root.append(h("style", { nonce }, css + more));
  }

  // To the page our element is the target, and typing in it would look like the page's shortcuts.
  for (const name of KEYS) frame.addEventListener(name, (event) => event.stopPropagation());

  // Beside the body: a page that replaces it or its children does not touch us.
  function attach() {
    if (!host.isConnected) home()?.append(host);
  }

  async function paint() {
    const isDark = theme === "dark" || (theme !== "light" && dark.matches);
    frame.toggleAttribute("data-dark", isDark);
    const given = getComputedStyle(host);
    if (THEMED.some((name) => given.getPropertyValue(`--lh-${name}`))) {
      (await import("./theme.js")).applyTheme(host, frame);
    }
  }

  function place() {
    const { activeElement: focused, body } = document;
    const busy = focused && focused !== host && focused !== body && focused.getBoundingClientRect();
    const fits = (corner) => {
      frame.dataset.at = corner;
      return !busy || !frame.firstChild || !overlap(frame.firstChild.getBoundingClientRect(), busy);
    };
    if (![frame.dataset.at, position, ...CORNERS].some(fits)) frame.dataset.at = position;
  }

  attach();
  requestAnimationFrame(paint); // with the frame's own styles, not as a task more
  dark.addEventListener("change", paint);
  new MutationObserver(attach).observe(document.documentElement, { childList: true });
  for (const name of ["focusin", "resize"]) window.addEventListener(name, place, { passive: true });

  return {
    host,
    root,
    frame,
    announce: (text) => { status.textContent = text; },
    clear: emptier(frame),
    pause: (on) => { frame.hidden = on; },
    show(node) {
      attach();
      paint();
      frame.replaceChildren(node);
      frame.dataset.at = position;
      place();
    },
  };
}

/** Runs `focus` on Alt+Shift+Q anywhere in the page, unless the host has switched it off. */
export function watchHotkey({ hotkey }, focus) {
  window.addEventListener("keydown", (event) => {
    if (hotkey === "off" || !event.altKey || !event.shiftKey || event.code !== "KeyQ") return;
    event.preventDefault();
    focus();
  }, true);
}
