/* The shop's own simple chatbot. It calls LabelHub.message twice: with the visitor's message, and
   with the shop's answer. */

window.LabelHub ??= {
  q: [],
  message(...args) {
    this.q.push(["message", ...args]);
  },
};

const conversation = crypto.randomUUID();
const talk = document.getElementById("bot-talk");
const form = document.getElementById("bot-form");
const text = document.getElementById("bot-text");
const wares = [...document.querySelectorAll(".ware")].map(({ dataset }) => ({
  price: Number(dataset.price),
  words: words(`${dataset.name} ${dataset.words}`),
}));

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const written = text.value.trim();
  if (!written) return;
  text.value = "";
  say("you", written);
  window.LabelHub.message(written, { id: crypto.randomUUID(), conversation });
  setTimeout(() => answer(written), 600);
});

text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  }
});

function answer(written) {
  const said = reply(written.toLowerCase());
  say("shop", said);
  window.LabelHub.message(said, { id: crypto.randomUUID(), conversation, role: "assistant" });
}

// It names no product: that is left to the recommendation, which does more than match words.
function reply(written) {
  const limit = Number(/(?:under|below|max\w*|at most)\s*\$?(\d+)/.exec(written)?.[1] ?? Infinity);
  const cheap = wares.filter((ware) => ware.price <= limit);
  if (!cheap.length) return "Sorry, we have nothing at that price.";
  const found = cheap.filter((ware) => ware.words.some((word) => written.includes(word))).length;
  if (!found) return "I found no product for these words. What do you need it for?";
  return `${found === 1 ? "One product matches" : `${found} products match`} your message. Have a look around this page.`;
}

function words(of) {
  return of.toLowerCase().match(/[a-z]{4,}/g) ?? [];
}

function say(who, what) {
  const line = document.createElement("li");
  line.className = `bot__line bot__line--${who}`;
  line.textContent = what;
  talk.append(line);
  line.scrollIntoView({ block: "nearest" });
}
