// The leases of this page: renewed while it is open, released when it is left.
import { post, postOnLeave } from "./http.js";

const EVERY = 60_000;

export class Leases {
  constructor({ renew, release }, { onLost }) {
    this.urls = { renew, release };
    this.onLost = onLost;
    this.held = new Set();
    setInterval(() => this.renew(), EVERY);
    // A machine that was asleep has missed renewals.
    document.addEventListener("visibilitychange", () => document.hidden || this.renew());
    window.addEventListener("pagehide", () => this.leave());
  }

  hold(token) {
    if (token) this.held.add(token);
  }

  drop(token) {
    this.held.delete(token);
  }

  async renew() {
    const asked = [...this.held];
    if (!asked.length) return;
    try {
      const response = await post(this.urls.renew, asked.map((token) => ["lease", token]));
      const kept = new Set((await response.json()).kept);
      for (const token of asked) {
        if (kept.has(token) || !this.held.has(token)) continue;
        this.drop(token);
        this.onLost(token);
      }
    } catch {
      // The next round tries again; an answer without a lease is still stored.
    }
  }

  leave() {
    if (this.held.size) postOnLeave(this.urls.release, [...this.held].map((token) => ["lease", token]));
  }
}
