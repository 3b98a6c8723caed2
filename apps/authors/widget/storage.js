const TYPES = { consent: "number", at: "number", scope: "object", out: "boolean", sid: "string", tok: "string" };

/**
 * The browser's memory of a site, which its other tabs write too: `{consent, at, scope, out}` in one value,
 * and in values of their own, which no other write can undo, `{sid, tok}` and each frame that waits. Storage
 * may throw or hold anything at any time.
 */
export function createStorage(key) {
  const name = `labelhub.${key}`;
  const who = `${name}.who`;
  const waiting = `${name}.out.`;
  const gone = `${name}.erased`;
  const memory = {}; // what could not be stored

  function attempt(action) {
    try {
      return action();
    } catch {
      // Blocked, full, or not ours.
    }
  }

  function write(item, value) {
    memory[item] = value;
    attempt(() => {
      if (value) localStorage.setItem(item, value);
      else localStorage.removeItem(item);
      delete memory[item]; // what is stored may be cleared by another tab
    });
  }

  const read = (item) => memory[item] ?? attempt(() => localStorage.getItem(item));
  const parse = (item) => ({ ...attempt(() => JSON.parse(read(item))) });
  const isOurs = ([field, value]) => typeof value === TYPES[field];
  const load = () => Object.fromEntries(Object.entries({ ...parse(name), ...parse(who) }).filter(isOurs));

  // Nothing is written before consent.
  function put(item, value, { consent } = load()) {
    if (consent !== undefined) write(item, JSON.stringify(value));
  }

  function update(change) {
    const kept = { ...parse(name), ...change };
    put(name, kept, kept);
  }

  const names = () => (attempt(() => Object.keys(localStorage)) ?? []).filter((item) => item.startsWith(waiting));
  const keep = (frame) => put(waiting + frame.id, frame);

  // Earlier versions stored all in one value.
  const { outbox } = parse(name);
  if (outbox) {
    update({ outbox: undefined });
    [outbox].flat().forEach((frame) => keep({ ...frame }));
  }

  return {
    name,
    load,
    update,
    meet: (sid, tok) => put(who, { sid, tok }),
    frames: () => names().map((item) => ({ ...parse(item), id: item.slice(waiting.length) }))
      .filter(({ t }) => typeof t === "string").sort((a, b) => a.ts - b.ts),
    keep,
    drop: (id) => write(waiting + id),
    clear: () => [...names(), who, name].forEach((item) => write(item)),
    /** When whoever sits here was erased (the server's clock); what the host says of a consent of before is old. */
    erasedAt: () => Number(read(gone)) || 0,
    markErased: (at) => write(gone, at),
    refuse: (version) => write(`${name}.no`, version),
  };
}
