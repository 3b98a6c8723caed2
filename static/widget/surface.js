import { h } from "./dom.js";

// Sizes are in em of the person's own default: the page's root size is not ours. `!important` on :host
// wins over every rule of the page, `*{all:unset!important}` too.
const BASE = `
:host{all:initial!important;position:fixed!important;z-index:var(--lh-z,2147483000)!important;direction:ltr!important}
:host([data-inline]){position:relative!important;z-index:auto!important;display:block!important;height:100%!important}
*{box-sizing:border-box;margin:0}
[hidden]{display:none!important}
.unseen{position:fixed;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.frame{--bg:#fff;--fg:#1a2029;--muted:#59606b;--border:#85888e;--accent:#20344d;--on-accent:#fff;
--r:var(--lh-radius,14px);--x:var(--lh-offset-x,16px);--y:var(--lh-offset-y,16px);
--line:color-mix(in srgb,var(--border) 45%,var(--bg));--tint:color-mix(in srgb,var(--accent) 9%,var(--bg));
font:1em/1.45 var(--lh-font,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif);
color:var(--fg);color-scheme:light;text-align:start}
.frame[data-dark]{--bg:#1c2026;--fg:#e8e8e4;--muted:#a6acb6;--border:#7a818c;--accent:#cfdcee;--on-accent:#14202f;color-scheme:dark}
`;

const CORNERS = ["bottom-right", "bottom-left", "top-right", "top-left"];
const THEMED = ["bg", "fg", "muted", "border", "accent"];

const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/**
 * The widget's element, in `anchor` or floating: `frame` holds cards and panels, the status region
 * is there from the start, and a floating card keeps off what has the focus in the page.
 */
export function createSurface({ options, strings, nonce, anchor }) {
  const inline = Boolean(anchor && document.querySelector(anchor));
  const host = h("labelhub-widget", { "data-inline": inline });
  const root = host.attachShadow({ mode: "open" });
  const status = h("div", { class: "unseen", role: "status" });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const { theme } = options;
  const usual = CORNERS[strings.dir === "rtl" ? 1 : 0];
  const position = CORNERS.includes(options.position) ? options.position : usual;
  const frame = h("div", { class: "frame", lang: strings.lang, dir: strings.dir, "data-at": position });
  dress(BASE);
  root.append(status, frame);

  /** Adds styles; the nonce is for browsers without constructable sheets. */
  function dress(css) {
    if (!root.adoptedStyleSheets) return root.append(h("style", { nonce }, css));
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  }

  // To the page our element is the target, and typing in it would look like the page's shortcuts.
  for (const name of ["keydown", "keyup", "keypress"]) {
    frame.addEventListener(name, (event) => event.stopPropagation());
  }

  // Beside the body: a page that replaces it or its children does not touch us.
  function attach() {
    if (!host.isConnected) (inline ? document.querySelector(anchor) : document.documentElement)?.append(host);
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
  paint();
  dark.addEventListener("change", paint);
  new MutationObserver(attach).observe(document.documentElement, { childList: true });
  if (!inline) for (const name of ["focusin", "resize"]) window.addEventListener(name, place, { passive: true });

  return {
    root,
    frame,
    inline,
    dress,
    announce: (text) => { status.textContent = text; },
    clear: () => frame.replaceChildren(),
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
