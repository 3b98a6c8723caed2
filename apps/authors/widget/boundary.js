const QUIET = 1500;
const PATIENCE = 20_000;
const LOOK_EVERY = 150;

/** When a question may appear: the assistant has answered (if it is `heard`) and nobody is typing. */
export function createBoundary(mode, heard = false) {
  const open = new Set();
  let typed = -QUIET;
  let paused = false;
  for (const name of ["keydown", "input"]) {
    window.addEventListener(name, () => { typed = performance.now(); }, { capture: true, passive: true });
  }

  const calm = (mid) => mode === "none" || (!(heard && open.has(mid)) && performance.now() - typed >= QUIET);

  return {
    author: (mid) => open.add(mid),
    assistant() {
      heard = true;
      open.clear();
    },
    pause(on) {
      paused = on;
    },
    /** True at the boundary after the message `mid`, false after 20 s without one. */
    async wait(mid, signal) {
      const end = performance.now() + PATIENCE;
      while (!signal.aborted && performance.now() < end) {
        if (!paused && calm(mid)) return true;
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
      }
      return false;
    },
  };
}
