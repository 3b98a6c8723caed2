// Answers that are being sent. Memory and session storage keep each until the server has stored it.
// The server recognises a repeated answer by its lease.
import { Refused, SignedOut, post, postOnLeave } from "./http.js";
import { words } from "../words.js";

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

  /** Send an answer; resolves when this and all earlier ones are stored or refused. */
  add(url, pairs, extra = {}) {
    const entry = { url, pairs };
    Object.defineProperty(entry, "extra", { value: extra }); // not stored
    this.entries.push(entry);
    this.#keep();
    this.idle = this.idle.then(() => this.#drain());
    return this.idle;
  }

  /** Send the rest without waiting, as the page is being left. */
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
    const again = words("not-saved-yet", { seconds: Math.ceil(wait / 1000) });
    this.onState("failed", error instanceof SignedOut
      ? words("not-saved-signed-out")
      : [error.words, again].filter(Boolean).join(" "));
    return new Promise((go) => {
      const timer = setTimeout(go, wait);
      window.addEventListener("online", () => { clearTimeout(timer); go(); }, { once: true });
    });
  }

  #keep() {
    try {
      sessionStorage.setItem(this.name, JSON.stringify(this.entries));
    } catch {
      // Storage is full or forbidden, but memory has the answers.
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
