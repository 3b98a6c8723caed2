import { createConnection } from "./connection.js";
import { uuid } from "./dom.js";
import { createOutbox } from "./outbox.js";
import { lock } from "./tabs.js";

const LONGEST_TEXT = 8000;
const MOST_BYTES = 14_000; // of a text in a frame of 16 KB
const TEXTS_KNOWN = 30;
const STORED_BY_THEN = 1000; // what a tab stores reaches the others after the lock that it lets go
const ENDED = { ok: false, code: "ended" };
const PRINTABLE = /^(?! *$)( |[^\p{C}\p{Z}]){1,64}$/u;
const PRIMES = [16_777_619, 2_654_435_761];

// The server's string lengths, too, count code points.
function fitting(text) {
  let kept = Array.from(`${text}`).slice(0, LONGEST_TEXT);
  while (new Blob([JSON.stringify(kept.join(""))]).size > MOST_BYTES) kept = kept.slice(0, kept.length * 0.9);
  return kept.join("");
}

/** An id of the host's as the server takes it: printable, 64 characters at most; else a hash of it. */
export function fittingId(id) {
  if (PRINTABLE.test(id)) return id;
  const mixed = (prime) => Array.from(id).reduce((sum, each) => Math.imul(sum ^ each.codePointAt(), prime), prime);
  return PRIMES.map(mixed).join();
}

/** What one person and one site say to each other; `context` comes from the loader. */
export function createSession({ config, key, options, settings, emit, warn, socket }, storage, scope) {
  const listeners = {};
  const texts = new Map();
  const byHost = options.consent === "host";
  const conversation = uuid();
  const terms = { v: config.consent.version, hash: config.consent.hash };
  let last = 0;
  let epoch = config.time - performance.now(); // the server's clock runs on when this one is set
  let ended = 0; // or the code that ended it
  let gone = false; // erased: nothing goes out any more, whatever is still clicked
  let ident, greeted, erasure, me, refused;

  // A page that slept through an erasure still knows the terms, and must not agree to them for anybody.
  const agreed = () => storage.load().consent !== undefined;
  const may = () => !gone && agreed();
  const connection = createConnection({ url: socket, may, enter, greet, onFrame, onReady, onEnd });
  const outbox = createOutbox(connection.transmit, storage);

  const tell = (name, detail) => listeners[name]?.forEach((listen) => listen(detail));

  // Until this browser has met the server, one tab at a time says hello; the next one finds who it is.
  async function enter() {
    if (storage.load().sid) return;
    const leave = await lock(`${storage.name}.hello`);
    return storage.load().sid ? leave() : () => setTimeout(leave, STORED_BY_THEN);
  }

  const now = () => epoch + performance.now();

  // By the page's clock or by the server's, whichever makes it earlier.
  const earliest = (at) => at && at + Math.min(now() - Date.now(), 0);

  function greet() {
    const { sid, tok, at, scope: agreed = scope } = storage.load();
    greeted = ident;
    const consent = { ...terms, scope: agreed, by: options.consent, at: earliest(at) };
    return { key, mode: options.mode, sid, tok, ident, last, lang: config.lang, sdk: "1", consent };
  }

  function welcomed({ sid, tok, server_time: time }) {
    me = sid;
    epoch = time - performance.now();
    storage.meet(sid, tok);
    if (gone) connection.close(); // another tab erases who this is
  }

  const erasing = () => erasure || storage.frames().some(({ t }) => t === "erase");

  function erased(receipt = "") {
    gone = true;
    // The host says its consent for everybody, also on the next page.
    if (byHost) storage.markErased(now());
    forget();
    emit("erased", { receipt });
    tell("end", receipt); // in place of a code
    return { ok: true, receipt };
  }

  // The site's text of the consent has changed: what was agreed to no longer counts.
  async function renew() {
    if (byHost) return;
    Object.assign(config, await settings());
    tell("terms");
  }

  function onFrame({ t, re, seq, d = {} }) {
    if (/question|offer/.test(t) && erasing()) return;
    if (t === "ack") outbox.acked(re, d);
    else if (t === "data") outbox.acked(re, { data: d });
    else if (t === "nack") outbox.nacked(re, d);
    if (t === "welcome") welcomed(d);
    else if (seq) last = seq; // the server takes it back if need be, should this page be away
    const whoIs = /^ident_(expired|required)$/.test(d.code);
    const lost = d.code === "erased";
    if (t === "nack" && !lost && (whoIs || !d.retry)) emit(whoIs ? d.code : "error", d);
    tell(t, d);
    if (d.code === "consent_outdated" || d.consent_version > storage.load().consent) renew().catch(() => {});
    // Asked for here, on a page before, on another device, or done by the site's people.
    if (!gone && (lost || (t === "ack" && d.receipt))) erased(d.receipt);
  }

  function onReady(ready) {
    if (ready) outbox.flush();
    tell("ready", ready);
  }

  function onEnd(code, met) {
    const other = ident !== greeted;
    if (code === 4401 && (other || storage.load().tok)) {
      // Somebody else has signed in, or a signature or the token was of no use any more: once more, as
      // who it is now. What was written before the server met anybody is still theirs.
      if (other && met) outbox.clear();
      storage.meet(storage.load().sid, "");
      return connection.open();
    }
    if (gone) return;
    ended = code;
    refused?.(ENDED);
    // Sent again, the same frame would end the next socket too; who has left says nothing more.
    if ([4400, 4410, 4413].includes(code)) outbox.clear();
    if (code === 4403) warn(`site "${key}" is closed to this page.`);
    emit("closed", { code });
    tell("end", code);
  }

  async function push(t, d = {}, onDelay) {
    if (gone || (t !== "erase" && (ended || erasing()))) return ENDED;
    const result = outbox.push(t, d, onDelay);
    connection.open();
    return result;
  }

  function forget() {
    connection.close();
    outbox.clear();
    storage.clear();
    texts.clear();
    last = 0;
    ident = undefined;
  }

  // Another tab has asked to be erased, or has forgotten who this was. What is stored by now may be newer
  // than what is told of.
  window.addEventListener("storage", ({ key: item, newValue }) => {
    const asked = !erasure && item?.startsWith(storage.name) && /"t":"erase"/.test(newValue);
    if (!asked && (newValue || item !== storage.name)) return;
    if (me && me === storage.load().sid && !newValue) storage.clear(); // written here before this page was told
    if (gone) return;
    gone = Boolean(asked || storage.erasedAt());
    // A hello is under way: only its welcome tells that tab whom to erase.
    if (!asked || connection.isReady()) connection.close();
    outbox.clear();
    texts.clear();
    tell("end", gone ? 4410 : 4401);
  });

  async function erase() {
    // Of whom the server has never heard it keeps nothing; once a tab has agreed, it may have heard.
    if (!agreed()) return erased();
    outbox.clear();
    tell("erasing");
    // It waits in the outbox until the site lets this browser in; whoever asked is told at once.
    const done = await new Promise((tell) => push("erase").then(refused = tell));
    if (done.ok || gone) return { receipt: "", ...done, ok: true };
    if (done.code === "not_yours") return erased(); // they only chat: nothing is kept
    erasure = undefined;
    return done;
  }

  // At that moment, where one is known.
  function agree(scope, at, { version: v, hash } = config.consent) {
    Object.assign(terms, { v, hash });
    ended = 0;
    gone = false;
    erasure = undefined;
    storage.markErased();
    storage.update({ consent: v, at, scope });
    if (connection.isReady()) push("consent", { ...terms, scope, at: earliest(at) });
  }

  return {
    push,
    forget,
    on: (name, listen) => (listeners[name] ??= []).push(listen),
    isReady: connection.isReady,
    now,
    texts,
    agree,
    /** Whether the host's own consent holds, as far as this browser knows. */
    vouched: () => byHost && !storage.erasedAt(),
    /** The host says when somebody has agreed; whether that is news. */
    vouch(moment) {
      const at = new Date(moment ?? NaN).getTime();
      const { at: known = 0, out } = storage.load();
      const news = byHost && !out && at > known
        && earliest(at) > storage.erasedAt() && earliest(at) <= now();
      if (news) agree(scope, at);
      return news;
    },
    resume: connection.open,
    message(raw, { id = uuid(), conversation: conv = conversation, role = "author" } = {}) {
      const text = fitting(raw);
      if (role === "author") texts.set(id, text);
      if (texts.size > TEXTS_KNOWN) texts.delete(texts.keys().next().value);
      return push("msg", { text, mid: id, conv: fittingId(`${conv}`), role });
    },
    identify(jwt) {
      if (!jwt && ident) forget(); // whoever comes next is somebody else
      ident = jwt ?? undefined;
      if (!jwt) return;
      if (connection.isReady()) push("ident", { ident });
      else if (ended === 4401) {
        ended = 0;
        connection.open();
      }
    },
    erase: () => (erasure ??= erase()),
    optOut() {
      storage.update({ out: true });
      return push("optout");
    },
  };
}
