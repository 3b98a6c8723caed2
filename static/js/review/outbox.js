// Answers on their way. Each is kept, in memory and in the session's storage, until the server has
// said that it is stored; sending one twice is harmless, the server knows it by its lease.
import { Refused, SignedOut, post, postOnLeave } from "./http.js";

const WAITS = [500, 1000, 2000, 4000, 8000, 15000];

export class Outbox {
  constructor(name, { onState, onSaved, onRefused }) {
    this.name = name;
    this.onState = onState;
    this.onSaved = onSaved;
    this.onRefused = onRefused;
    this.entries = this.#stored();
    this.idle = Promise.resolve();
    if (this.entries.length) this.idle = this.#drain();
  }

  /** Take an answer over; resolves when it (and all before it) is stored or refused. */
  add(url, pairs, extra = {}) {
    const entry = { url, pairs };
    Object.defineProperty(entry, "extra", { value: extra }); // not for storage
    this.entries.push(entry);
    this.#keep();
    this.idle = this.idle.then(() => this.#drain());
    return this.idle;
  }

  /** The page goes away: send what is left without waiting. */
  leave() {
    for (const entry of this.entries) postOnLeave(entry.url, entry.pairs);
  }

  async #drain() {
    for (let failures = 0; this.entries.length; ) {
      const entry = this.entries[0];
      try {
        this.onState("saving");
        const response = await post(entry.url, entry.pairs);
        const told = await response.json();
        this.onState("saved", told.message);
        this.onSaved(told);
        failures = 0;
      } catch (error) {
        if (!(error instanceof Refused)) {
          await this.#pause(error, failures++);
          continue;
        }
        this.onState("refused");
        this.onRefused(error.message, entry, error.code);
      }
      this.entries.shift();
      this.#keep();
    }
  }

  #pause(error, failures) {
    const wait = WAITS[Math.min(failures, WAITS.length - 1)];
    this.onState("failed", error instanceof SignedOut
      ? "Not saved: you are signed out. Sign in in another tab; your answer is kept here."
      : `${error.words ? `${error.words} ` : ""}Not saved; trying again in ${Math.ceil(wait / 1000)} s. Your answer is kept here.`);
    return new Promise((go) => {
      const timer = setTimeout(go, wait);
      window.addEventListener("online", () => { clearTimeout(timer); go(); }, { once: true });
    });
  }

  #keep() {
    try {
      sessionStorage.setItem(this.name, JSON.stringify(this.entries));
    } catch {
      // Storage is full or forbidden: memory still has them.
    }
  }

  #stored() {
    try {
      return JSON.parse(sessionStorage.getItem(this.name)) ?? [];
    } catch {
      return [];
    }
  }
}
