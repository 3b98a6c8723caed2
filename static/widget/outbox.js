import { uuid } from "./dom.js";

const MOST_FRAMES = 100;
const MOST_CHARACTERS = 64 * 1024;
const DROPPED_FIRST = [/^(shown|early)$/, /^(msg|retry|export)$/, /./];

/** Frames until the server has stored them; their ids make a resend harmless. */
export function createOutbox(transmit, storage) {
  const waiting = new Map();

  const keep = (change) => storage.update((kept) => { kept.outbox = change(kept.outbox ?? []); });

  function finish(id, result) {
    const entry = waiting.get(id);
    if (!entry) return;
    clearTimeout(entry.timer);
    waiting.delete(id);
    keep((frames) => frames.filter((frame) => frame.id !== id));
    entry.done?.(result);
  }

  function trim() {
    const frames = () => [...waiting.values()].map(({ frame }) => frame);
    while (waiting.size > MOST_FRAMES || JSON.stringify(frames()).length > MOST_CHARACTERS) {
      const least = DROPPED_FIRST.map((kind) => frames().find(({ t }) => kind.test(t))).find(Boolean);
      finish(least.id, { ok: false, code: "dropped" });
    }
  }

  return {
    /** Resolves with `{ok: true, ...ack}` or `{ok: false, ...nack}`; `onDelay(ms)` before a resend. */
    push(t, d, onDelay) {
      const frame = { v: 1, t, id: uuid(), ts: Date.now(), d };
      return new Promise((done) => {
        waiting.set(frame.id, { frame, done, onDelay, tries: 0 });
        if (t !== "ident") keep((frames) => [...frames, frame]);
        trim();
        transmit(frame);
      });
    },
    acked: (id, ack) => finish(id, { ok: true, ...ack }),
    nacked(id, nack) {
      const entry = waiting.get(id);
      if (!entry || !nack.retry) return finish(id, { ok: false, ...nack });
      const pause = nack.after_ms ?? Math.min(30_000, 1000 * 2 ** entry.tries++);
      entry.onDelay?.(pause);
      entry.timer = setTimeout(transmit, pause, entry.frame);
    },
    flush() {
      const frames = [...waiting.values()].map(({ frame }) => frame);
      for (const frame of frames.sort((a, b) => (b.t === "consent") - (a.t === "consent"))) transmit(frame);
    },
    restore() {
      for (const frame of storage.load().outbox ?? []) {
        if (!waiting.has(frame.id)) waiting.set(frame.id, { frame, tries: 0 });
      }
    },
    clear() {
      for (const id of [...waiting.keys()]) finish(id, { ok: false, code: "dropped" });
    },
  };
}
