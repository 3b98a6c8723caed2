// The search dialog: "/" or Ctrl-K opens it, arrow keys go through what is found, Enter opens the first.
const PAUSE = 120;

export function watchPalette() {
  const dialog = document.getElementById("palette");
  if (!dialog) return;
  const form = dialog.querySelector("form");
  const field = form.elements.q;
  const results = dialog.querySelector("[data-results]");
  let request = new AbortController();
  let waiting = 0;
  let shown = null;

  async function find() {
    const address = `${form.action}?${new URLSearchParams(new FormData(form))}`;
    if (address === shown) return;
    request.abort();
    request = new AbortController();
    results.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(address, { headers: { "HX-Request": "true" }, signal: request.signal });
      // Somebody signed out is led to another page.
      if (answer.redirected || !answer.ok) throw new Error(answer.statusText);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      results.replaceChildren(...page.body.children);
      shown = address;
    } catch (error) {
      if (error.name === "AbortError") return;
      results.textContent = results.dataset.failed;
    }
    results.removeAttribute("aria-busy");
  }

  function links() {
    return [...results.querySelectorAll("a")];
  }

  function move(step) {
    const places = [field, ...links()];
    const next = places.indexOf(document.activeElement) + step;
    places[(next + places.length) % places.length].focus();
  }

  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) document.querySelector("[data-opens=palette]").click();
    }
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-opens=palette]")) find();
  });
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.isComposing) return;
    event.preventDefault();
    move(step);
  });
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, PAUSE);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    await find();
    links()[0]?.click();
  });
}
