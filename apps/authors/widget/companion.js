import { createBoundary } from "./boundary.js";
import { consentCard } from "./consent.js";
import { hint, uuid, words } from "./dom.js";
import { createOffers } from "./offers.js";
import { createQuestions } from "./questions.js";
import { createSession, fittingId } from "./session.js";
import { createStorage } from "./storage.js";
import { createSurface, watchHotkey } from "./surface.js";

const MOST_HELD = 5;
const SCOPE = ["questions"];

/** The host has a chatbot of its own: its messages are heard here. Returns what window.LabelHub calls. */
export async function start(context) {
  const { config, key, options, nonce, emit } = context;
  const byHost = options.consent === "host";
  const strings = await words([config.lang]);
  const storage = createStorage(key);
  const stage = createSurface({ options, strings, nonce });
  const boundary = createBoundary(options.boundary);
  const session = createSession(context, storage, SCOPE);
  const questions = createQuestions({ key, config, options, session, stage, boundary, emit, stop: session.optOut });
  const place = { ...stage, role: "region", isFree: () => !questions.isBusy() && !stage.frame.firstChild };
  const offers = createOffers({ alone: true, place, stage, session, boundary, emit, config, options });
  const held = [];
  let left = Boolean(storage.load().out || (byHost && storage.erasedAt()));
  let asking = null;

  const agreed = () => byHost || storage.load().consent === config.consent.version;

  async function ask() {
    // Closed by Esc it is neither a yes nor a no.
    const scope = await new Promise((choose) => {
      const card = consentCard(config, strings, [[SCOPE, strings.agree], [null, strings.refuse]], choose);
      card.addEventListener("keydown", ({ key }) => key === "Escape" && choose());
      stage.show(card);
      stage.announce(hint(strings, options));
    });
    stage.clear();
    stage.announce("");
    if (scope) return session.agree(scope);
    left = true;
    session.forget();
    if (scope === null) storage.refuse(config.consent.version);
  }

  async function consent() {
    if (byHost && storage.load().consent === undefined) session.agree(SCOPE);
    if (agreed()) return;
    asking ??= ask();
    await asking;
    asking = null;
  }

  async function message(text, about = {}) {
    if (left) return;
    held.push([text, { ...about, id: fittingId(`${about.id ?? ""}` || uuid()) }]);
    if (!agreed()) held.splice(0, held.length - MOST_HELD);
    await consent();
    for (const [said, its] of held.splice(0)) if (!left) forward(said, its);
  }

  function forward(text, about) {
    session.message(text, about);
    if (about.role === "assistant") boundary.assistant();
    else boundary.author(about.id);
  }

  session.on("end", (code) => {
    left = code !== 4401; // who they are may still be told
    held.length = 0;
  });
  session.on("terms", consent);
  session.on("welcome", ({ state }) => {
    if (state === "opted_out") left = true;
  });

  const find = (what) => stage.frame.querySelector(what);
  watchHotkey(options, () => questions.focus() ?? (find(".offer a") ?? find("button"))?.focus());
  if (agreed() && (storage.frames().length || (!left && storage.load().sid))) session.resume();

  return {
    message,
    identify: session.identify,
    erase: session.erase,
    agree(moment) {
      if (session.vouch(moment)) left = false;
    },
    close() {
      questions.dismiss();
      offers.clear();
    },
    pause(on = true) {
      boundary.pause(on);
      stage.pause(on);
    },
  };
}
