// The script a page embeds: waits for an idle page, fetches the settings, imports the mode.
(() => {
  const script = document.currentScript;
  const stub = window.LabelHub;
  const warn = (text) => console.warn(`LabelHub: ${text}`);
  if (stub?.version) return warn("a second widget script on this page is ignored.");

  const options = { site: "", mode: "companion", consent: "widget", ...script.dataset };
  const { site: key, mode } = options;
  const language = options.lang || document.documentElement.lang || navigator.language;
  const calls = [...(stub?.q ?? [])];
  let widget = null;

  const emit = (name, detail) => window.dispatchEvent(new CustomEvent(`labelhub:${name}`, { detail }));
  const call = (name, ...args) => (widget ? widget[name]?.(...args) : void calls.push([name, ...args]));

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
    const url = new URL(`config/${encodeURIComponent(key)}?lang=${encodeURIComponent(language)}`, script.src);
    const response = await fetch(url, { credentials: "omit" });
    return response.ok ? response.json() : { refusal: response.status };
  }

  async function load() {
    const config = declined() ? {} : await settings();
    if (!config.enabled || !config.mode.includes(mode)) {
      if (!declined()) warn(`site "${key}" offers no ${mode} here (${config.refusal ?? "disabled"}).`);
      return {};
    }
    if (declined(config.consent.version)) return {};
    const socket = new URL("/ws/v1/widget/", script.src);
    socket.protocol = socket.protocol.replace("http", "ws");
    const { start } = await import(new URL(`__LH_BUILD__/${mode}.js`, script.src).href);
    return start({ config, key, options, language, emit, settings, nonce: script.nonce, socket });
  }

  async function boot() {
    try {
      widget = await load();
    } catch (error) {
      widget = {};
      emit("error", { code: "load", message: `${error}` });
    }
    for (const each of calls.splice(0)) call(...each);
  }

  const idle = window.requestIdleCallback ?? setTimeout;
  const booted = new Promise((idled) => idle(idled, { timeout: 2000 })).then(boot);

  window.LabelHub = { version: "1" };
  for (const name of ["message", "identify", "pause", "open", "close"]) {
    window.LabelHub[name] = (...args) => void call(name, ...args);
  }
  window.LabelHub.erase = async () => (await booted, (await widget.erase?.()) ?? { receipt: "" });
  window.LabelHub.on = (name, listen) => window.addEventListener(`labelhub:${name}`, ({ detail }) => listen(detail));
})();
