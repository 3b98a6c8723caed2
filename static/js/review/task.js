// The item on the page: the selected answer, whether it is the suggestion, and the time spent.
import { Evidence } from "./evidence.js";
import { watchFresh } from "./fresh.js";
import { post, Refused } from "./http.js";
import { rememberLabels, watchLabels } from "./labels.js";
import { watchNone } from "./none.js";
import { words } from "../words.js";

const CHOICES = ["value", "none"];
const DRAFTED = [...CHOICES, "comment", "rationale", "confidence", "spans"];

export class Task {
  constructor(form) {
    this.form = form;
    this.token = form.dataset.lease;
    this.seconds = 0;
    this.since = null;
    this.fields = [...form.querySelectorAll("[name=value], [name=none]")];
    this.rejecting = false;
    watchNone(form);
    form.addEventListener("input", () => this.#say());
    form.addEventListener("change", () => this.#say());
    form.addEventListener("click", (event) => this.#field(event));
    form.addEventListener("click", (event) => this.#again(event.target));
    form.addEventListener("toggle", (event) => this.#opened(event.target), true);
    this.#watchSend();
    this.evidence = new Evidence(form);
    if (form.dataset.draft) this.#restore(JSON.parse(form.dataset.draft));
    this.#say();
  }

  /** The unfinished answer, for the draft on the server; without unchanged fields. */
  begun() {
    const data = new FormData(this.form);
    const kept = [...data].filter(([name]) => DRAFTED.includes(name) && !(this.#accepts() && CHOICES.includes(name)));
    const schema = this.form.elements.schema?.value ?? "";
    return [["item", this.form.dataset.item], ["schema", schema], ...kept];
  }

  #restore(draft) {
    for (const box of this.form.querySelectorAll("input[name=value], input[name=none]")) {
      if (draft.value || draft.none) box.checked = Boolean(draft[box.name]?.includes(box.value));
    }
    for (const name of ["comment", "rationale", ...("written" in this.form.dataset ? ["value"] : [])]) {
      const field = this.form.querySelector(`textarea[name=${name}]`);
      if (!field || !draft[name]) continue;
      field.value = draft[name][0];
      field.closest("details")?.setAttribute("open", "");
    }
    const sure = [...this.form.querySelectorAll("input[name=confidence]")];
    for (const one of sure) one.checked = one.value === draft.confidence?.[0];
    this.evidence.restore(draft.spans?.[0]);
    this.form.querySelector("[data-begun]").hidden = false;
  }

  /** The selected fields and values; the choice of no label counts as selected. */
  chosen() {
    const pairs = [...new FormData(this.form)].map(([name, value]) => [name, value.trim()]);
    return pairs.filter(([name, value]) => CHOICES.includes(name) && value);
  }

  get suggested() {
    return this.form.elements.shown.value !== "0";
  }

  /** Count time only while the page is visible. */
  watch(on) {
    if (this.since !== null) this.seconds += (performance.now() - this.since) / 1000;
    this.since = on ? performance.now() : null;
  }

  /** Called when the task appears. */
  appear() {
    watchFresh(this.form);
    watchLabels(this.form);
  }

  /** What to send; null, with a message, if there is no answer yet. */
  answer(button) {
    const skips = button && "skip" in button.dataset;
    if (!skips && button?.name === "reject" && (this.#accepts() || !this.chosen().length)) {
      this.#askForTheRightAnswer();
      return null;
    }
    const complaint = this.form.querySelector("[data-complaint]");
    const gives = !skips && button?.name !== "abstain";
    const missing = gives && !this.chosen().length;
    const needed = gives ? this.form.querySelector("[data-needed]") : null;
    const first = this.form.elements.none ? "choose-label-first" : "choose-first";
    const ask = words(this.rejecting ? "choose-right-first" : first);
    const told = missing ? ask : needed && !needed.value.trim() ? needed.dataset.needed : "";
    complaint.hidden = !told;
    complaint.textContent = told;
    if (told) {
      if (!missing) needed.focus();
      return null;
    }
    if (gives) rememberLabels(this.form);
    this.watch(false);
    this.form.elements.seconds.value = this.seconds.toFixed(2);
    const data = new FormData(this.form, button);
    data.delete("csrfmiddlewaretoken");
    if (gives && this.rejecting && !this.#accepts()) data.set("reject", "1");
    return { url: button?.getAttribute("formaction") || this.form.getAttribute("action"), pairs: [...data], skips, leaves: ["", "reject"].includes(button?.dataset.skip) };
  }

  /** Whether the selection is unchanged: the suggestion, or nothing. */
  #accepts() {
    return this.fields.every((field) => field.type === "textarea"
      ? field.value.trim() === field.defaultValue.trim()
      : field.checked === field.defaultChecked);
  }

  /** Clear the selection; stores nothing. The focus does not move, so that the next key is a shortcut. */
  #askForTheRightAnswer() {
    this.rejecting = true;
    for (const field of this.fields) {
      if (field.type === "textarea") field.value = "";
      else field.checked = false;
    }
    this.#say();
  }

  /** Select the suggestion again. */
  takeRejectionBack() {
    this.rejecting = false;
    for (const field of this.fields) {
      if (field.type === "textarea") field.value = field.defaultValue;
      else field.checked = field.defaultChecked;
    }
    this.#say();
  }

  /** The selected names, for the button: on a phone the choices may be out of view. */
  #named() {
    const names = this.form.querySelectorAll(".choice:has(:checked) .choice__name");
    return [...names].map((each) => each.textContent).join(", ");
  }

  #say() {
    const accepts = this.suggested && this.#accepts();
    const act = [words(accepts ? "accept" : "save"), this.#named()].filter(Boolean).join(": ");
    this.form.querySelector("[data-go-words]").textContent = this.chosen().length ? act : words("choose-answer");
    this.form.querySelector("[data-complaint]").hidden = true;
    if (!this.suggested) return;
    const status = this.form.querySelector("[data-rejecting]");
    const told = this.rejecting ? words(accepts ? "suggestion-again" : "rejecting") : "";
    if (status.textContent !== told) status.textContent = told; // screen readers read it, so not after each letter
    const [reject, only] = this.form.querySelectorAll("button[name=reject]");
    reject.hidden = this.rejecting;
    only.hidden = !this.rejecting;
  }

  /** Focus the field at once: "toggle" comes later, and a key typed before it would be a shortcut. */
  #field(event) {
    const details = event.target.closest("[data-field] > summary")?.parentElement;
    if (!details || details.open) return;
    event.preventDefault();
    details.open = true;
    details.querySelector("textarea").focus();
  }

  #again(target) {
    const earlier = target.closest("[data-earlier]");
    if (!earlier) return;
    this.form.elements.value.value = earlier.dataset.earlier;
    this.#say();
  }

  #opened(details) {
    if (!details.open) return;
    const arrived = details.dataset.debate && this.#fetchDebate(details);
    // Otherwise it opens below the edge of the window, and grows when its text arrives.
    Promise.resolve(arrived).then(() => details.scrollIntoView({ block: "nearest" }));
  }

  async #fetchDebate(details) {
    const url = details.dataset.debate;
    delete details.dataset.debate;
    const body = details.querySelector("[data-debate-body]");
    try {
      const response = await fetch(url, { credentials: "same-origin" });
      if (!response.ok || response.redirected) throw new Error(String(response.status));
      body.innerHTML = await response.text(); // escaped by the server
    } catch {
      body.textContent = words("debate-failed");
      details.dataset.debate = url;
    }
  }

  /** Send the comment at once; unsent, it goes with the answer. */
  #watchSend() {
    const send = this.form.querySelector("[data-send]");
    const field = this.form.querySelector("textarea[name=comment]");
    const told = this.form.querySelector("[data-sent]");
    send.hidden = false;
    send.addEventListener("click", async () => {
      send.disabled = true;
      try {
        const response = await post(send.dataset.send, [["text", field.value]]);
        told.textContent = (await response.json()).message;
        field.value = "";
        field.dispatchEvent(new Event("input", { bubbles: true }));
      } catch (error) {
        told.textContent = error instanceof Refused ? error.message : words("not-sent");
      }
      send.disabled = false;
    });
  }
}
