import { createBoundary } from "./boundary.js";
import { askConsent } from "./consent.js";
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
  const { config, key, options, nonce, emit, settings } = context;
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
    const answers = [[SCOPE, strings.agree], [null, strings.refuse]];
    const scope = await askConsent({ stage, config, strings, answers, announced: hint(strings, options) });
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

  // The site's text of the consent has changed: what was agreed to no longer counts.
  async function renew() {
    if (byHost) return;
    Object.assign(config, await settings());
    await consent();
  }

  function over() {
    held.length = 0;
    questions.end();
    offers.clear();
  }

  session.on("question", questions.take);
  session.on("retract", questions.retract);
  session.on("offer", offers.take);
  session.on("retract", offers.retract);
  session.on("erasing", over);
  session.on("end", (code) => {
    left = code !== 4401; // who they are may still be told
    over();
  });
  session.on("nack", ({ code }) => code === "consent_outdated" && renew());
  session.on("welcome", ({ consent_version: version, state }) => {
    if (state === "opted_out") left = true;
    if (version > storage.load().consent) renew();
  });

  const find = (what) => stage.frame.querySelector(what);
  watchHotkey(options, () => questions.focus() ?? (find(".offer a") ?? find("button"))?.focus());
  const { sid, outbox } = storage.load();
  if (agreed() && (outbox?.length || (!left && sid))) session.resume();

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
