import { button, uuid } from "../dom.js";

const REPLY_WITHIN = 60_000;

/** The conversation: what is sent, what streams back, and what failed. `onNews()`: something came. */
export function createTalk({ session, boundary, log, strings, onNews }) {
  const pieces = new Map(); // mid of a reply -> what has come of it
  const drawn = new Set();
  const answered = new Set();
  let conversation = uuid();
  let patience = 0;

  function expect(on) {
    clearTimeout(patience);
    log.typing(on);
    if (on) patience = setTimeout(() => log.typing(false), REPLY_WITHIN);
  }

  const again = (act) => button("link", strings.again, act);

  async function deliver(mid, text) {
    const entry = log.entry(mid, "author");
    entry.state(session.isReady() ? "" : strings.waiting);
    const result = await session.message(text, { id: mid, conversation });
    if (!log.has(mid)) return;
    if (result.ok) {
      entry.state();
      if (!answered.has(mid)) expect(true);
    } else {
      entry.state(result.code === "too_long" ? strings.tooLong : strings.unsent, again(() => deliver(mid, text)));
    }
  }

  function send(text) {
    const mid = uuid();
    log.entry(mid, "author").text(text);
    log.toEnd(true);
    boundary.author(mid);
    deliver(mid, text);
  }

  async function retry(mid, entry) {
    entry.remove();
    answered.delete(mid);
    expect(true);
    const { ok } = await session.push("retry", { mid });
    if (!ok) expect(false);
  }

  // Many small pieces come at once: drawn once per frame.
  function draw(mid) {
    if (drawn.has(mid)) return;
    drawn.add(mid);
    requestAnimationFrame(() => {
      drawn.delete(mid);
      if (pieces.has(mid)) log.entry(mid, "assistant").text(pieces.get(mid));
    });
  }

  function finish(mid) {
    pieces.delete(mid);
    expect(false);
    const entry = log.entry(mid, "assistant");
    entry.streaming(false);
    boundary.assistant();
    onNews();
    return entry;
  }

  session.on("reply", ({ mid, to, delta = "", final, text, failed, retry: retries, code, message }) => {
    answered.add(to);
    if (failed) {
      const entry = finish(mid);
      entry.state(code === "limit" ? message : strings.noReply, retries && again(() => retry(to, entry)));
    } else if (final) {
      finish(mid).text(text);
    } else {
      expect(false);
      pieces.set(mid, (pieces.get(mid) ?? "") + delta);
      log.entry(mid, "assistant").streaming(true);
      draw(mid);
    }
  });

  // What was written here and is not there yet comes after what the server knows.
  session.on("history", ({ conv, messages }) => {
    conversation = conv ?? conversation;
    const known = new Set(messages.map(({ mid }) => mid));
    const own = [...log.entries.values()].filter(({ mid, role }) => role === "author" && !known.has(mid));
    log.clear();
    for (const { mid, role, text } of messages) {
      if (role === "author") session.texts.set(mid, text);
      log.entry(mid, role).text(text);
    }
    for (const { mid, content } of own) log.entry(mid, "author").text(content);
    log.toEnd(true);
  });

  session.on("ready", (ready) => {
    if (!ready) expect(false);
  });

  return {
    send,
    /** A message of an earlier page that still waits in the outbox. */
    waiting({ mid, text }) {
      if (log.has(mid)) return;
      const entry = log.entry(mid, "author");
      entry.text(text);
      entry.state(strings.waiting);
    },
  };
}
