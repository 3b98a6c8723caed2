import { createBoundary } from "./boundary.js";
import { createComposer } from "./chat/composer.js";
import { createLog } from "./chat/log.js";
import { createMenu } from "./chat/menu.js";
import { createPanel } from "./chat/panel.js";
import { chatCss } from "./chat/styles.js";
import { createTalk } from "./chat/talk.js";
import { dataView, erasedView, gateView, sureView } from "./chat/views.js";
import { consentCard } from "./consent.js";
import { words } from "./dom.js";
import { createOffers } from "./offers.js";
import { createQuestions } from "./questions.js";
import { createSession } from "./session.js";
import { createStorage } from "./storage.js";
import { createSurface, watchHotkey } from "./surface.js";

const BOTH = ["chat", "questions"];
const CHAT_ONLY = ["chat"];
const FOLDERS = ["./locales/", "./locales/more/", "./chat/locales/"];

/** The chat is ours: behind a button in the corner, or inside `data-anchor`. Returns what LabelHub calls. */
export async function start(context) {
  const { config, key, options, nonce, emit } = context;
  const byHost = options.consent === "host";
  const tables = FOLDERS.map((folder) => words([config.lang], folder));
  const strings = Object.assign({}, ...(await Promise.all(tables)));
  const storage = createStorage(key);
  const inline = Boolean(options.anchor && document.querySelector(options.anchor));
  const home = () => document.querySelector(inline ? options.anchor : ":root");
  const surface = createSurface({ options, strings, nonce, more: chatCss, home });
  surface.host.toggleAttribute("data-inline", inline);
  const boundary = createBoundary(options.boundary, true);
  const session = createSession(context, storage, BOTH);

  const log = createLog(strings, config.chat?.greeting);
  const talk = createTalk({ session, boundary, log, strings, onNews: () => panel.news() });
  const composer = createComposer(strings, talk.send);
  const menu = createMenu(strings, [
    [strings.show, () => panel.view(dataView(strings, session.push("export"), converse))],
    [strings.stopQuestions, stopFromMenu, () => (storage.load().scope ?? BOTH).includes("questions")],
    [strings.erase, () => panel.view(sureView(strings, session.erase, converse))],
  ]);
  const panel = createPanel({ surface, inline, strings, config, menu, log, composer, onOpen: enter });
  const stage = { ...surface, show: panel.showCard, clear: panel.clearCard };
  const questions = createQuestions({ key, config, options, session, stage, boundary, emit, stop: withdraw });

  const place = {
    isFree: () => !questions.isBusy(),
    show(card) {
      log.put(card);
      panel.news();
    },
    clear(card) {
      const held = card.matches(":focus-within");
      card.remove();
      if (held) composer.focus();
    },
  };
  const offers = createOffers({ place, stage, session, boundary, emit, config, options });

  // Whom the host vouched for and who was erased since agrees here.
  const agreed = () => session.vouched() || storage.load().consent === config.consent.version;

  function converse() {
    menu.allow(true);
    panel.converse();
  }

  function enter() {
    if (!agreed()) return ask();
    if (byHost && storage.load().consent === undefined) session.agree(BOTH);
    for (const { t, d } of storage.frames()) if (t === "msg") talk.waiting(d);
    session.resume();
    panel.online(session.isReady());
    return converse();
  }

  function ask() {
    const answers = [[BOTH, strings.agree], [CHAT_ONLY, strings.chatOnly], [null, strings.refuse]];
    menu.allow(false);
    panel.view(gateView(config, consentCard(config, strings, answers, (scope) => {
      if (!scope) {
        session.forget();
        storage.refuse(config.consent.version);
        return panel.close();
      }
      storage.refuse(undefined);
      session.agree(scope, Math.max(Date.now(), session.now()));
      return enter();
    })));
  }

  // The chat goes on; only the questions end.
  function withdraw() {
    offers.clear();
    storage.update({ scope: CHAT_ONLY });
    return session.push("consent", { v: config.consent.version, hash: config.consent.hash, scope: CHAT_ONLY });
  }

  function stopFromMenu() {
    withdraw();
    questions.clear();
    converse();
    surface.announce(strings.stopped);
    log.note(strings.stopped);
  }

  session.on("ready", panel.online);
  session.on("end", (why) => {
    if (typeof why === "number" && why !== 4410) return panel.ended();
    log.clear();
    menu.allow(false);
    return panel.view(erasedView(strings, why === 4410 ? "" : why, enter));
  });
  session.on("terms", () => agreed() || ask());
  session.on("welcome", ({ reward }) => menu.reward(reward));
  watchHotkey(options, () => questions.focus() ?? [...log.node.querySelectorAll(".offer a")].at(-1)?.focus());
  if (inline) panel.open();
  else if (agreed() && storage.frames().length) enter();

  return {
    identify: session.identify,
    erase: session.erase,
    agree: session.vouch,
    open: panel.open,
    close() {
      questions.dismiss();
      panel.close();
    },
    pause(on = true) {
      boundary.pause(on);
      surface.pause(on);
    },
  };
}
