// One item on screen: what is chosen, whether that is the suggestion, how long it took.
import { Evidence } from "./evidence.js";
import { watchFresh } from "./fresh.js";
import { watchNone } from "./none.js";

const CHOICES = ["value", "none"];
const DRAFTED = [...CHOICES, "comment", "rationale", "confidence", "spans"];
const WRONG = "Give the right answer. “Only wrong” leaves it to others; Undo takes the rejection back.";
const AGAIN = "This is the suggestion again: it is stored as accepted.";

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
    for (const event of ["pointerover", "focusin"]) form.addEventListener(event, (e) => this.#point(e.target));
    this.evidence = new Evidence(form);
    if (form.dataset.draft) this.#restore(JSON.parse(form.dataset.draft));
    this.#say();
  }

  /** What has been begun, for the server to keep; empty fields where nothing differs. */
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

  /** Fields and values; nothing ticked is nothing chosen, and "None of these" is a choice. */
  chosen() {
    const pairs = [...new FormData(this.form)].map(([name, value]) => [name, value.trim()]);
    return pairs.filter(([name, value]) => CHOICES.includes(name) && value);
  }

  get suggested() {
    return this.form.elements.shown.value !== "0";
  }

  /** Time counts only while the page can be seen. */
  watch(on) {
    if (this.since !== null) this.seconds += (performance.now() - this.since) / 1000;
    this.since = on ? performance.now() : null;
  }

  /** On the screen from now on; what is chosen is in sight. */
  appear() {
    watchFresh(this.form);
    const chosen = this.form.querySelector(".choice:has(:checked)");
    const hidden = chosen?.getBoundingClientRect().bottom - this.form.querySelector(".task__actions").getBoundingClientRect().top;
    if (hidden > 0) this.form.querySelector(".task__answer").scrollTop += hidden;
  }

  /** What to send, or null with a word to the person when there is no answer yet. */
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
    const first = this.form.elements.none ? "Choose a label or “None of these”, or skip." : "Give an answer first, or skip.";
    const ask = this.rejecting ? "Nothing is chosen yet." : first;
    const words = missing ? ask : needed && !needed.value.trim() ? needed.dataset.needed : "";
    complaint.hidden = !words;
    complaint.textContent = words;
    if (words) {
      if (!missing) needed.focus();
      return null;
    }
    this.watch(false);
    this.form.elements.seconds.value = this.seconds.toFixed(2);
    const data = new FormData(this.form, button);
    data.delete("csrfmiddlewaretoken");
    if (gives && this.rejecting && !this.#accepts()) data.set("reject", "1");
    return { url: button?.getAttribute("formaction") || this.form.getAttribute("action"), pairs: [...data], skips, leaves: ["", "reject"].includes(button?.dataset.skip) };
  }

  /** Whether what is chosen is what the server chose: the suggestion, or nothing. */
  #accepts() {
    return this.fields.every((field) => field.type === "textarea"
      ? field.value.trim() === field.defaultValue.trim()
      : field.checked === field.defaultChecked);
  }

  /** Nothing is stored yet. The cursor goes nowhere: the next key must not be written as an answer. */
  #askForTheRightAnswer() {
    this.rejecting = true;
    for (const field of this.fields) {
      if (field.type === "textarea") field.value = "";
      else field.checked = false;
    }
    this.#say();
  }

  /** The suggestion is chosen again. */
  takeRejectionBack() {
    this.rejecting = false;
    for (const field of this.fields) {
      if (field.type === "textarea") field.value = field.defaultValue;
      else field.checked = field.defaultChecked;
    }
    this.#say();
  }

  /** The names of what is chosen; on a phone the choices themselves may be out of sight. */
  #named() {
    const names = this.form.querySelectorAll(".choice:has(:checked) .choice__name");
    return [...names].map((each) => each.textContent).join(", ");
  }

  #say() {
    const accepts = this.suggested && this.#accepts();
    const words = this.form.querySelector("[data-go-words]");
    const act = [accepts ? "Accept" : "Save", this.#named()].filter(Boolean).join(": ");
    words.textContent = this.chosen().length ? act : "Choose an answer";
    this.form.querySelector("[data-complaint]").hidden = true;
    if (!this.suggested) return;
    const status = this.form.querySelector("[data-rejecting]");
    const told = !this.rejecting ? "" : accepts ? AGAIN : WRONG;
    if (status.textContent !== told) status.textContent = told; // it is read out, but not at each letter
    const [reject, only] = this.form.querySelectorAll("button[name=reject]");
    reject.hidden = this.rejecting;
    only.hidden = !this.rejecting;
  }

  /** The cursor is in the field at once: "toggle" comes later, and a key typed before it would act. */
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
    // It opens below the edge of the panel otherwise, and grows when its text has come.
    Promise.resolve(arrived).then(() => details.scrollIntoView({ block: "start" }));
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
      body.textContent = "The debate could not be fetched. Close and open this again.";
      details.dataset.debate = url;
    }
  }

  /** Resting on a choice shows its quotes in the text. */
  #point(target) {
    const name = target.closest?.(".choice")?.querySelector("input")?.value;
    for (const mark of this.form.querySelectorAll("mark.quote")) {
      const on = name !== undefined && `, ${mark.dataset.label}, `.includes(`, ${name}, `);
      mark.toggleAttribute("data-on", on);
    }
  }
}
