// The script a page embeds: waits for an idle page, fetches the settings, imports the mode.
(() => {
  const script = document.currentScript;
  const stub = window.LabelHub;
  const warn = (text) => console.warn(`LabelHub: ${text}`);
  if (stub?.version) return warn("a second widget script on this page is ignored.");

  const options = { site: "", mode: "companion", consent: "widget", ...script.dataset };
  const { site: key, mode } = options;
  const language = options.lang || document.documentElement.lang || navigator.language;
  const url = (path) => new URL(path, script.src);
  const emit = (name, detail) => window.dispatchEvent(new CustomEvent(`labelhub:${name}`, { detail }));

  const absent = { erase: () => ({ ok: false, code: "load" }) }; // where the rest cannot be had

  // Whoever said no never loads the rest; a chat is opened by the person, and then asks again.
  function declined(version) {
    if (options.consent === "host" || mode === "chat") return false;
    try {
      return navigator.globalPrivacyControl === true || localStorage.getItem(`labelhub.${key}.no`) === `${version}`;
    } catch {
      return false;
    }
  }

  async function settings() {
    const response = await fetch(url(`config/${encodeURIComponent(key)}?lang=${language.slice(0, 2)}`), { credentials: "omit" });
    return response.ok ? response.json() : { refusal: response.status };
  }

  async function load() {
    if (declined()) return {};
    const config = await settings();
    if (!config.enabled || !config.mode.includes(mode)) {
      warn(`site "${key}" offers no ${mode} here (${config.refusal ?? "disabled"}).`);
      return absent;
    }
    if (declined(config.consent.version)) return {};
    const socket = url("/ws/v1/widget/");
    socket.protocol = socket.protocol.replace("http", "ws");
    const { start } = await import(url(`__LH_BUILD__/${mode}.js`));
    return start({ config, key, options, emit, settings, nonce: script.nonce, socket, warn });
  }

  function failed(error) {
    emit("error", { code: "load", message: `${error}` });
    return absent;
  }

  const idle = window.requestIdleCallback ?? setTimeout;
  const booted = new Promise((idled) => idle(idled, { timeout: 2000 })).then(load).catch(failed);
  const call = async (name, ...args) => (await booted)[name]?.(...args);
  for (const each of stub?.q ?? []) call(...each);

  window.LabelHub = {
    version: "1",
    erase: async () => (await call("erase")) ?? { receipt: "" },
    on: (name, listen) => window.addEventListener(`labelhub:${name}`, ({ detail }) => listen(detail)),
  };
  for (const name of ["message", "identify", "agree", "pause", "open", "close"]) {
    window.LabelHub[name] = (...args) => void call(name, ...args);
  }
})();
