import { uuid } from "./dom.js";

const MOST_FRAMES = 100;
const MOST_CHARACTERS = 64 * 1024;
const MOST_UNDER_WAY = 10; // the server takes 20 at once, and 5 a second

const PASSING = /ident|early|export/; // of no use to a later page

// What was written waits for what was agreed to, answered or taken back.
const rank = ({ frame: { t } }) => (t === "msg") - (t === "consent");

/** Frames until the server has stored them, in their order; their ids make a resend harmless. */
export function createOutbox(transmit, storage) {
  const waiting = new Map();
  let notBefore = 0;
  let stamp = 0;
  let timer;

  function add(frame, more) {
    waiting.set(frame.id, { frame, tries: 0, ...more });
  }

  // Few are under way at once: of a hundred at once, the server would refuse most.
  function pump() {
    clearTimeout(timer);
    const pause = notBefore - performance.now();
    if (pause > 0) {
      timer = setTimeout(pump, pause);
      return;
    }
    const next = [...waiting.values()].sort((a, b) => rank(a) - rank(b));
    let free = MOST_UNDER_WAY - next.filter(({ sent }) => sent).length;
    for (const entry of next) if (!entry.sent && free-- > 0) send(entry);
  }

  function send(entry) {
    entry.sent = true;
    transmit(entry.frame);
  }

  function finish(id, result) {
    const entry = waiting.get(id);
    if (!entry) return;
    clearTimeout(entry.timer);
    waiting.delete(id);
    storage.drop(id);
    entry.done?.(result);
  }

  function trim() {
    const frames = () => [...waiting.values()].map(({ frame }) => frame);
    while (waiting.size > MOST_FRAMES || JSON.stringify(frames()).length > MOST_CHARACTERS) {
      const first = (kind) => frames().find(({ t }) => kind.test(t));
      const least = first(/shown|early/) ?? first(/msg|retry|export/) ?? first(/./);
      finish(least.id, { ok: false, code: "dropped" });
    }
  }

  function settle(id, result) {
    finish(id, result);
    pump();
  }

  // What an earlier page has left goes first.
  for (const frame of storage.frames()) add(frame);

  return {
    /** Resolves with `{ok: true, ...ack}` or `{ok: false, ...nack}`; `onDelay(ms)` before a resend. */
    push(t, d, onDelay) {
      stamp = Math.max(stamp + 1, Date.now()); // what is stored is sorted by it
      const frame = { v: 1, t, id: uuid(), ts: stamp, d };
      return new Promise((done) => {
        add(frame, { done, onDelay });
        if (!PASSING.test(t)) storage.keep(frame);
        trim();
        pump();
      });
    },
    acked: (id, ack) => settle(id, { ok: true, ...ack }),
    nacked(id, nack) {
      const entry = waiting.get(id);
      if (!entry || !nack.retry) return settle(id, { ok: false, ...nack });
      const pause = nack.after_ms ?? Math.min(30_000, 1000 * 2 ** entry.tries++);
      entry.onDelay?.(pause);
      // An answer that came too early holds up nothing else; where the server is busy, all wait, so
      // that nothing overtakes what was refused.
      if (nack.code === "too_early") entry.timer = setTimeout(send, pause, entry);
      else {
        entry.sent = false;
        notBefore = Math.max(notBefore, performance.now() + pause);
        pump();
      }
    },
    /** Everything once more: on a new connection nothing is known of what went before. */
    flush() {
      for (const entry of waiting.values()) entry.sent = false;
      notBefore = 0;
      pump();
    },
    clear() {
      for (const id of [...waiting.keys()]) finish(id, { ok: false, code: "dropped" });
    },
  };
}
