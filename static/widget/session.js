import { createConnection } from "./connection.js";
import { uuid } from "./dom.js";
import { createOutbox } from "./outbox.js";

const LONGEST_TEXT = 8000;
const MOST_BYTES = 14_000; // of a text in a frame of 16 KB
const TEXTS_KNOWN = 30;

function fitting(text) {
  let kept = `${text}`.slice(0, LONGEST_TEXT);
  while (new TextEncoder().encode(JSON.stringify(kept)).length > MOST_BYTES) kept = kept.slice(0, kept.length * 0.9);
  return kept;
}

/** What one person and one site say to each other; `context` comes from the loader. */
export function createSession({ config, key, options, language, emit, socket }, storage, scope) {
  const heard = new EventTarget();
  const texts = new Map();
  const conversation = uuid();
  const terms = { v: config.consent.version, hash: config.consent.hash };
  let last = 0;
  let skew = 0;
  let ended = false;
  let ident;

  const connection = createConnection({ url: socket, greet, onFrame, onReady, onEnd });
  const outbox = createOutbox(connection.transmit, storage);

  const tell = (name, detail) => heard.dispatchEvent(new CustomEvent(name, { detail }));

  function greet() {
    const { sid, tok, scope: agreed = scope } = storage.load();
    const consent = { ...terms, scope: agreed, by: options.consent };
    const tz = Intl.DateTimeFormat().resolvedOptions().timeZone;
    return { key, mode: options.mode, sid, tok, ident, last, lang: language, tz, sdk: "1", consent };
  }

  function welcomed({ sid, tok, server_time: time, resumed }) {
    if (!resumed) last = 0;
    if (time) skew = new Date(time) - Date.now();
    storage.update((kept) => Object.assign(kept, { sid, tok }));
  }

  function onFrame({ t, re, seq, d = {} }) {
    if (t === "ack") outbox.acked(re, d);
    else if (t === "data") outbox.acked(re, { data: d });
    else if (t === "nack") outbox.nacked(re, d);
    if (t === "welcome") welcomed(d);
    else if (seq > last) last = seq;
    if (t === "nack" && !d.retry) emit(/^ident_(expired|required)$/.test(d.code) ? d.code : "error", d);
    tell(t, d);
  }

  function onReady(ready) {
    if (ready) outbox.flush();
    tell("ready", ready);
  }

  function onEnd(code) {
    if (code === 4401 && storage.load().tok) {
      // The token was forgotten: once more as somebody new.
      storage.update((kept) => { delete kept.tok; });
      return connection.open();
    }
    ended = true;
    // Sent again, the same frame would end the next socket too.
    if (code === 4400 || code === 4413) outbox.clear();
    if (code === 4403) console.warn(`LabelHub: site "${key}" is closed to this page.`);
    emit("closed", { code });
    tell("end", code);
  }

  function push(t, d = {}, onDelay) {
    if (ended) return Promise.resolve({ ok: false, code: "ended" });
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

  return {
    push,
    forget,
    on: (name, handle) => heard.addEventListener(name, ({ detail }) => handle(detail)),
    isReady: connection.isReady,
    now: () => Date.now() + skew,
    text: (mid) => texts.get(mid),
    know: (mid, text) => texts.set(mid, text),
    agree(agreed, { version: v, hash } = config.consent) {
      Object.assign(terms, { v, hash });
      ended = false;
      storage.update((kept) => Object.assign(kept, { consent: v, scope: agreed }));
      if (connection.isReady()) push("consent", { ...terms, scope: agreed });
    },
    resume() {
      outbox.restore();
      connection.open();
    },
    message(raw, { id = uuid(), conversation: conv = conversation, role = "author" } = {}) {
      const text = fitting(raw);
      if (role === "author") texts.set(id, text);
      if (texts.size > TEXTS_KNOWN) texts.delete(texts.keys().next().value);
      return push("msg", { text, mid: `${id}`, conv: `${conv}`, role });
    },
    identify(jwt) {
      if (!jwt && ident) forget(); // whoever comes next is somebody else
      ident = jwt ?? undefined;
      if (jwt && connection.isReady()) push("ident", { ident });
    },
    async erase() {
      if (!storage.load().sid && !connection.isReady()) return { ok: true, receipt: "" };
      const result = await push("erase");
      if (result.ok) forget();
      return result;
    },
    optOut() {
      storage.update((kept) => { kept.out = true; });
      return push("optout");
    },
  };
}
