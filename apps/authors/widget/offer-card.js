import { button, h, hint, words } from "./dom.js";
import { offerCss } from "./offer-card-styles.js";
import { watchReading } from "./reading.js";

const SHOWN_AFTER = 1000;
const LOOK_EVERY = 200;
const MIDDLE = 1;
/** How long the second press of a double one may take, in ms. */
const DOUBLE = 600;
const styled = new WeakSet();

/**
 * What the page may be led to or load: http or https, relative to the page's own site, and no name
 * before an "@" that could be taken for the site's; else null.
 */
function address(text) {
  try {
    const url = new URL(text, location.origin);
    return /^https?:$/.test(url.protocol) && !url.username && !url.password ? url : null;
  } catch {
    return null;
  }
}

// Beside the title there is nothing to say about the picture.
function picture(src) {
  const url = src && address(src);
  return url && h("img", {
    src: url.href, alt: "", loading: "lazy", decoding: "async", referrerpolicy: "no-referrer",
    onerror: ({ target }) => target.remove(),
  });
}

function wareLink(offer, url, strings, tell) {
  const away = url.origin !== location.origin;
  return h("a", {
    class: "ware", href: url.href, rel: "noopener", target: away && "_blank",
    onclick: () => tell("click"),
    onauxclick: ({ button: pressed }) => pressed === MIDDLE && tell("click"),
  },
  picture(offer.picture),
  h("span", { class: "name", dir: "auto" }, offer.title),
  h("span", { class: "deal" },
    h("span", { dir: "auto" }, offer.price),
    h("span", { class: "go" }, strings.look, away && h("span", { class: "unseen" }, ` (${strings.tab})`))));
}

function helpedRow({ helpful: { ask, yes, no, mattered } }, strings, tell) {
  const said = h("span", { role: "status" });
  const row = h("div", { class: "helped", role: "group", "aria-label": ask, tabindex: -1 },
    h("span", {}, ask),
    button("way", yes, () => answer("helpful", mattered)),
    button("way", no, () => answer("unhelpful", mattered)),
    said);

  // Thanks, or asks the `next` question. The second press of a double one must not answer that, nor
  // click what would move under it: for a while the row takes no clicks and gets no lower, and with
  // the keyboard it gets the focus.
  function answer(what, next, more) {
    tell(what, more);
    row.ariaLabel = next ? next.ask : strings.saved;
    row.style = `pointer-events:none;min-height:${row.offsetHeight}px`;
    setTimeout(() => { row.style = ""; }, DOUBLE);
    if (row.matches(":focus-within")) row.focus();
    row.replaceChildren(said, ...(next ? [...next.options, ["", next.none]] : []).map(([feature, name]) =>
      button("way", name, () => answer("mattered", null, { feature }), { dir: "auto" })));
    said.textContent = row.ariaLabel;
    row.scrollIntoView({ block: "nearest" }); // it may be higher now
  }

  return row;
}

function offerCard(offer, url, strings, role, tell, close) {
  return h("article", {
    class: "card offer", role, lang: offer.lang, dir: offer.dir, "aria-label": `${offer.label}: ${offer.title}`,
    onkeydown(event) {
      if (event.key !== "Escape" || event.isComposing) return;
      event.preventDefault();
      close();
    },
    // A click leaves the caret where the person is writing.
    onmousedown: (event) => event.target.closest("button") && event.preventDefault(),
  },
  h("div", { class: "mark" },
    h("strong", { class: "badge" }, offer.label),
    button("cross", "×", close, { "aria-label": strings.close })),
  h("p", { class: "pitch", dir: "auto" }, offer.text),
  wareLink(offer, url, strings, tell),
  helpedRow(offer, strings, tell),
  h("p", { class: "small", dir: "auto" }, offer.why));
}

const pause = () => new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));

/**
 * Shows the offer at the next boundary at which nothing else is open, until it is closed or `signal`
 * aborts; never, when it has expired by then or leads nowhere. Tells what becomes of it.
 */
export async function bring(offer, signal, { session, boundary, place, emit, config, options, stage }) {
  const { oid, re, lang, expires } = offer;
  const url = address(offer.link);
  if (!url) return emit("error", { code: "offer", message: `The link "${offer.link}" is neither http(s) nor a path.` });
  const tables = ["./locales/", "./locales/offer/"].map((folder) => words([lang, config.lang], folder));
  const strings = Object.assign({}, ...(await Promise.all(tables)));
  const isLate = () => session.now() >= expires;
  let seen = false;

  function tell(what, more) {
    const told = { oid, what, ...more };
    session.push("offered", told);
    emit("offer", told);
  }

  function end() {
    reading?.stop();
    if (!card.parentNode) return;
    place.clear(card);
    place.announce?.("");
  }

  function look() {
    if (signal.aborted || (!seen && isLate())) end();
    else if (!card.parentNode && place.isFree()) place.show(card); // a question had its place
  }

  function shown() {
    seen = true;
    tell("shown");
  }

  const card = offerCard(offer, url, strings, place.role, tell, () => {
    tell("close");
    end();
  });
  let reading;

  while (!signal.aborted && !isLate()) {
    if ((await boundary.wait(re, signal)) && place.isFree()) break;
    await pause();
  }
  if (signal.aborted || isLate()) return;
  if (!styled.has(stage.root)) stage.style(offerCss);
  styled.add(stage.root);
  place.show(card);
  place.announce?.(hint(strings, options, `${offer.label}: ${offer.text}`));
  reading = watchReading(card, shown, look, SHOWN_AFTER);
}
