import { openCard, parts, quoted } from "./card.js";
import { hint, words } from "./dom.js";
import { createTabs } from "./tabs.js";

const LONGEST_TIMER = 2 ** 31 - 1;
const ACK_WITHIN = 3000;
const BEHIND = 300; // ms: the tab that wrote the message goes first

/** Asks what the session is asked: one at a time, in one tab, at a boundary, before it expires. */
export function createQuestions({ key, config, options, session, stage, boundary, emit, stop }) {
  const queue = [];
  const known = new Map(); // qid -> AbortController
  let busy = false;
  let card = null;
  let shown; // the id of its question
  let own = false; // whether the person ends it all by this card, which says so
  let followed = false;
  let held = 0; // until when an answer that came too early is not sent again

  const abort = (qid) => known.get(qid)?.abort();
  const tabs = createTabs(key, abort);

  async function next() {
    if (busy || !queue.length) return;
    busy = true;
    await run(queue.shift()).catch(() => {}); // its words could not be loaded; the next one's may
    busy = false;
    next();
  }

  async function run(question) {
    const { qid, re, expires } = question;
    const { signal } = known.get(qid);
    const expiry = expires && setTimeout(abort, Math.min(LONGEST_TIMER, expires - session.now()), qid);
    const release = await tabs.claim(signal, session.texts.has(re) ? 0 : BEHIND);
    try {
      const due = await boundary.wait(re, signal);
      clearTimeout(expiry);
      if (due) await show(question, signal);
      else if (!signal.aborted) dismiss(qid, "timeout");
      if (!signal.aborted) tabs.settled(qid);
    } finally {
      release();
      abort(qid); // takes its listeners away
      known.set(qid, null);
    }
  }

  // What is in the outbox will arrive; nobody has to watch it travel.
  function soon(sent) {
    return new Promise((resolve) => {
      const look = () => {
        if (performance.now() < held) setTimeout(look, ACK_WITHIN);
        else resolve({ ok: true, later: true });
      };
      setTimeout(look, session.isReady() ? ACK_WITHIN : 0);
      sent.then(resolve);
    });
  }

  function dismiss(qid, how, val) {
    emit("dismissed", { qid, how });
    return soon(session.push("dismiss", { qid, how, val }));
  }

  const hooks = (qid) => ({
    shown(lat) {
      session.push("shown", { qid, lat });
      emit("shown", { qid });
    },
    early: (ms) => session.push("early", { qid, ms }),
    async answer(content, onDelay) {
      const result = await soon(session.push("answer", { qid, ...content }, (pause) => {
        held = performance.now() + pause;
        onDelay(pause);
      }));
      if (result.ok) emit("answered", { qid });
      return result;
    },
    dismiss: (how, val) => dismiss(qid, how, val),
    undo: () => soon(session.push("undo", { qid })),
    show: () => session.push("export"),
    stop() {
      queue.length = 0;
      own = true;
      stop();
    },
    erase() {
      queue.length = 0;
      own = true;
      return soon(session.erase());
    },
  });

  async function show(question, signal) {
    const { qid, re, lang } = question;
    const strings = await words([lang, config.lang]);
    if (question.kind === "word") await parts(strings.lang); // its card would be empty
    shown = qid;
    own = false;
    followed = await new Promise((closed) => {
      card = openCard({
        stage, question, quote: quoted(session.texts.get(re), question.quote), terms: config.consent, strings,
        hooks: { ...hooks(qid), closed },
      });
      stage.announce(hint(strings, options));
      // Whoever pressed "next" by keyboard goes on by keyboard.
      if (followed) card.focus();
      signal.addEventListener("abort", () => card?.retract());
    });
    card = null;
  }

  function clear() {
    queue.length = 0;
    for (const qid of known.keys()) abort(qid);
  }

  // Everything off the screen, also what could be undone; but for the card that tells of it.
  function end() {
    queue.length = 0;
    if (own) return;
    clear();
    card?.close();
  }

  session.on("question", (question) => {
    if (known.has(question.qid)) return;
    known.set(question.qid, new AbortController());
    queue.push(question);
    next();
  });
  session.on("retract", ({ qid }) => abort(qid));
  session.on("erasing", end);
  session.on("end", end);

  return {
    /** Whether one is open or waits for its turn. */
    isBusy: () => busy || queue.length > 0,
    /** Moves the focus into the card; undefined when there is none. */
    focus: () => card?.focus(),
    clear,
    /** Sends away for the host what is open or waits: the server may ask about the next message. */
    dismiss() {
      queue.length = 0;
      for (const [qid, waits] of known) {
        if (!waits) continue;
        if (card && qid === shown) card.dismiss();
        else {
          dismiss(qid, "host");
          abort(qid);
        }
      }
    },
  };
}
