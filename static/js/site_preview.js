// A small host page: passes messages to the widget, and a chatbot "answers" a moment later.
const THINKING = 600;
const REPLY = "Let me check that for you.";

const stage = document.querySelector("[data-preview]");

function said(list, role, text) {
  const line = document.createElement("li");
  line.className = `shop__said shop__said--${role}`;
  line.textContent = text;
  list.append(line);
  line.scrollIntoView({ block: "nearest" });
}

function companion(form, list) {
  const conversation = `preview-${crypto.randomUUID().slice(0, 8)}`;
  const forward = (role, text) => {
    said(list, role, text);
    window.LabelHub.message(text, { id: crypto.randomUUID(), conversation, role });
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const box = form.querySelector("input");
    const text = box.value.trim();
    if (!text) return;
    box.value = "";
    forward("author", text);
    setTimeout(() => forward("assistant", REPLY), THINKING);
  });
}

if (stage) {
  // The widget's script may come before or after this one.
  window.LabelHub ??= {
    q: [],
    message(...args) { this.q.push(["message", ...args]); },
    identify(...args) { this.q.push(["identify", ...args]); },
  };
  if (stage.dataset.ident) window.LabelHub.identify(stage.dataset.ident);
  const form = stage.querySelector("[data-preview-form]");
  if (form) companion(form, stage.querySelector("[data-preview-talk]"));
}
