// Saves unfinished answers on the server, so that they appear in any browser.
import { Refused, post, postOnLeave } from "./http.js";

const PAUSE = 1200;

export class Drafts {
  constructor(url) {
    this.url = url;
    this.task = null;
    this.timer = null;
    document.addEventListener("visibilitychange", () => document.hidden && this.#leave());
    window.addEventListener("pagehide", () => this.#leave());
  }

  /** Save drafts of this task from now on; null: of none. */
  watch(task) {
    clearTimeout(this.timer);
    this.timer = null;
    this.task = task;
    task?.form.addEventListener("input", () => this.#later());
  }

  #later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#save(), PAUSE);
  }

  async #save() {
    this.timer = null;
    const task = this.task;
    if (!task) return;
    try {
      await post(this.url, task.begun());
    } catch (error) {
      // Try again after a pause, unless the server refused the draft.
      if (task === this.task && !(error instanceof Refused)) this.#later();
    }
  }

  #leave() {
    if (this.timer === null || !this.task) return;
    clearTimeout(this.timer);
    this.timer = null;
    postOnLeave(this.url, this.task.begun());
  }
}
