const STEP = 100;
const SHOWN_AFTER = 250;
const LONGEST_STEP = 500; // a laptop that slept did not read

/** Time that half of `node` or more was on the screen of a visible tab; `ms()` counts from `onShown`. */
export function watchReading(node, onShown, onStep) {
  let inView = false;
  let shown = false;
  let seen = 0;
  let last = performance.now();
  const observer = new IntersectionObserver((entries) => {
    inView = entries.at(-1).intersectionRatio >= 0.5;
  }, { threshold: 0.5 });
  observer.observe(node);

  const timer = setInterval(() => {
    const now = performance.now();
    if (inView && !document.hidden) seen += Math.min(LONGEST_STEP, now - last);
    last = now;
    if (!shown && seen >= SHOWN_AFTER) {
      shown = true;
      seen = 0;
      onShown();
    }
    onStep();
  }, STEP);

  return {
    ms: () => (shown ? Math.round(seen) : 0),
    stop() {
      clearInterval(timer);
      observer.disconnect();
    },
  };
}
