/** The browser's memory of a site: `{sid, tok, consent, at, scope, out, outbox}`. Storage may throw at any time. */
export function createStorage(key) {
  const name = `labelhub.${key}`;
  const gone = `${name}.erased`;
  const memory = {};

  function attempt(action, item, value) {
    try {
      return localStorage[action](item, value);
    } catch {
      return null;
    }
  }

  function write(item, value) {
    const failed = attempt(value === undefined ? "removeItem" : "setItem", item, value) === null;
    memory[item] = failed ? value : undefined; // what is stored may be cleared by another tab
  }

  const read = (item) => attempt("getItem", item) ?? memory[item];

  function load() {
    try {
      return JSON.parse(read(name)) ?? {};
    } catch {
      return {}; // nothing, or not ours
    }
  }

  return {
    load,
    name,
    /** Other tabs write too, so what is there is read first. Nothing is written before consent. */
    update(change) {
      const kept = load();
      change(kept);
      if (kept.consent !== undefined) write(name, JSON.stringify(kept));
    },
    clear: () => write(name),
    /** When whoever sits here was erased (the server's clock); what the host says of a consent of before is old. */
    erasedAt: () => Number(read(gone)) || 0,
    markErased: (at) => write(gone, at && `${at}`),
    refuse: (version) => write(`${name}.no`, version && `${version}`),
  };
}
