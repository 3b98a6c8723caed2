const STEP = 100;
const SHOWN_AFTER = 250;
const LONGEST_STEP = 500; // a laptop that slept did not read

/**
 * Time that half of `node` or more was on the screen of a visible tab; `ms()` counts from `onShown`,
 * which is told once it was there for `after` ms without a break.
 */
export function watchReading(node, onShown, onStep, after = SHOWN_AFTER) {
  let inView = false;
  let shown = false;
  let seen = 0;
  let last = performance.now();
  const observer = new IntersectionObserver((entries) => {
    inView = entries.at(-1).intersectionRatio >= 0.5;
    last = performance.now(); // what was before it came into view does not count
  }, { threshold: 0.5 });
  observer.observe(node);

  const timer = setInterval(() => {
    const now = performance.now();
    if (inView && !document.hidden) seen += Math.min(LONGEST_STEP, now - last);
    else if (!shown) seen = 0;
    last = now;
    if (!shown && seen >= after) {
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
