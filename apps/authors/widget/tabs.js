const NEWS_TRAVELS = 60;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function visible(signal) {
  return new Promise((resolve) => {
    const look = () => (!document.hidden || signal.aborted) && resolve();
    document.addEventListener("visibilitychange", look, { signal });
    signal.addEventListener("abort", look);
    look();
  });
}

/** Resolves with the release. Without https, or in a sandbox, there are no locks: this tab is alone then. */
export function lock(name, signal) {
  return new Promise((got) => {
    const request = async () => navigator.locks.request(name, { signal }, () => new Promise(got));
    request().catch(() => got(() => {}));
  });
}

/** Several tabs hear one question, one shows it; `onSettled(qid)`: another tab is done with it. */
export function createTabs(key, onSettled) {
  const name = `labelhub.${key}`;
  let channel = null;
  try {
    channel = new BroadcastChannel(name);
    channel.onmessage = ({ data }) => onSettled(data);
  } catch {
    // The server's retract tells too.
  }

  return {
    settled: (qid) => channel?.postMessage(qid),
    /** Waits for this tab's turn, `late` ms behind a tab with a better right; returns the release. */
    async claim(signal, late) {
      await visible(signal);
      await sleep(late);
      const release = await lock(name, signal);
      await sleep(NEWS_TRAVELS);
      return release;
    },
  };
}
