"""How long a reviewer looks at what was answered already."""

#: Milliseconds from each Enter to the frame in which the next item is painted.
WATCH = """() => {
  window.painted = [];
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const from = performance.now(), before = document.querySelector("[data-task]");
    const look = () => {
      const now = document.querySelector("[data-task]");
      if (!now || now === before) return requestAnimationFrame(look);
      return requestAnimationFrame(() => window.painted.push(performance.now() - from));
    };
    requestAnimationFrame(look);
  }, { capture: true });
}"""
