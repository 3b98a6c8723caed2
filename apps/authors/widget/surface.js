import { emptier, h } from "./dom.js";
import { css } from "./styles.js";

const KEPT = ["keydown", "keyup", "keypress", "focusin"];
const CORNERS = ["bottom-right", "bottom-left", "top-right", "top-left"];
const THEMED = ["bg", "fg", "muted", "border", "accent"];
const LEAST_ROOM = 200; // pixels in which a question can be read and answered
const MARGINS = 24;
const FIELDS = "input,textarea,[contenteditable]";

const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

// A field with what belongs to it, such as the button that sends.
function around(node) {
  const form = node.closest("form");
  return (form?.offsetHeight < innerHeight / 3 ? form : node).getBoundingClientRect();
}

/**
 * The widget's element, at the end of what `home()` finds: `frame` holds cards and panels, the status
 * region is there from the start, and a floating card keeps off what has the focus in the page, and off
 * the field that had it last.
 */
export function createSurface({ options, strings, nonce, more = "", home = () => document.documentElement }) {
  const host = h("labelhub-widget");
  const root = host.attachShadow({ mode: "open" });
  const status = h("div", { class: "unseen", role: "status" });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width:30em)");
  const { theme } = options;
  const usual = CORNERS[strings.dir === "rtl" ? 1 : 0];
  const position = CORNERS.includes(options.position) ? options.position : usual;
  const frame = h("div", { class: "frame", lang: strings.lang, dir: strings.dir, "data-at": position });
  // What is as high as the window is not what somebody looks at in it.
  const outside = (one) => one?.isConnected && one !== host && one.offsetHeight < innerHeight && one !== document.body;
  let field = document.activeElement;
  root.append(status, frame);
  style(css + more);

  // The nonce is for browsers without constructable sheets.
  function style(text) {
    if (!root.adoptedStyleSheets) return root.append(h("style", { nonce }, text));
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  }

  // To the page our element is the target, and typing in it would look like the page's shortcuts.
  for (const name of KEPT) frame.addEventListener(name, (event) => event.stopPropagation());

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

  // At the other side; where there is none, as on a phone, below the field if there is room enough, or
  // else above it, where no keyboard is.
  function place() {
    const card = frame.firstChild;
    if (!card) return;
    const { offsetTop: top, height } = visualViewport;
    const busy = [document.activeElement, field].filter(outside).map(around);
    const fits = (at, up = 0, room = innerHeight) => {
      frame.dataset.at = at;
      frame.style.setProperty("--up", `${up}px`);
      frame.style.setProperty("--room", `${room}px`);
      const own = card.getBoundingClientRect();
      return own.top >= top && own.bottom <= top + height && !busy.some((each) => overlap(own, each));
    };
    const beside = ({ top: above, bottom }) => {
      const room = innerHeight - bottom - MARGINS;
      return (room > LEAST_ROOM && fits(position, 0, room)) || fits(position, innerHeight - above);
    };
    const corner = (at) => fits(at);
    fits(position) || (!narrow.matches && CORNERS.slice(0, 2).some(corner)) || busy.some(beside)
      || CORNERS.some(corner) || fits(position);
  }

  const clear = emptier(frame);

  attach();
  requestAnimationFrame(paint); // with the frame's own styles, not as a task more
  dark.addEventListener("change", paint);
  new MutationObserver(attach).observe(document.documentElement, { childList: true });
  window.addEventListener("focusin", (event) => {
    const [target] = event.composedPath(); // also what is inside another element
    if (target.matches?.(FIELDS)) field = target;
    place();
  });
  visualViewport.addEventListener("resize", place);

  return {
    host,
    root,
    frame,
    style,
    announce: (text) => { status.textContent = text; },
    clear,
    pause: (on) => { frame.hidden = on; },
    show(node) {
      attach();
      paint();
      clear(); // gives the focus back that what was there had
      frame.append(node);
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
