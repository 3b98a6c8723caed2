/** The browser's memory of a site: `{sid, tok, consent, scope, out, outbox}`. Storage may throw at any time. */
export function createStorage(key) {
  const name = `labelhub.${key}`;
  const memory = {};

  function attempt(action, item, value) {
    try {
      return localStorage[action](item, value);
    } catch {
      return null;
    }
  }

  function write(item, value) {
    memory[item] = value;
    attempt(value === undefined ? "removeItem" : "setItem", item, value);
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
    refuse: (version) => write(`${name}.no`, version && `${version}`),
  };
}
