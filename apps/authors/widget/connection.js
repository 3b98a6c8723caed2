const ANSWER_WITHIN = 10_000;
const LONGEST_PAUSE = 30_000;
const RATE_PAUSE = 60_000;
const ENDED = [4400, 4401, 4403, 4410, 4413];
const DORMANT = [4408, 4409]; // come back when the person does

/**
 * One socket that comes back while it `may()`: `greet()` makes hello, `onReady(boolean)` follows welcome and
 * loss. It waits for `enter()`, and calls what that resolved with when it is welcome or lost.
 */
export function createConnection({ url, may, enter, greet, onFrame, onReady, onEnd }) {
  let socket = null;
  let entering = false;
  let leave;
  let ready = false;
  let wanted = false;
  let failures = 0;
  let notBefore = 0;
  let retry, beat, deadline;

  const raw = (frame) => socket?.readyState === 1 && socket.send(JSON.stringify(frame));

  function plain(t, d = {}) {
    raw({ v: 1, t, id: `${t}${Date.now()}`, d });
    clearTimeout(deadline);
    deadline = setTimeout(drop, ANSWER_WITHIN);
  }

  const ping = () => plain("ping");

  function receive({ data }) {
    const frame = JSON.parse(data);
    clearTimeout(deadline);
    onFrame(frame);
    if (frame.t !== "welcome" || !socket) return;
    leave?.();
    ready = true;
    failures = 0;
    beat = setInterval(ping, (frame.d.hb ?? 25) * (900 + Math.random() * 200));
    onReady(true);
  }

  function lost({ code }) {
    const wasReady = ready;
    socket = null;
    ready = false;
    leave?.();
    clearInterval(beat);
    clearTimeout(deadline);
    if (wasReady) onReady(false);
    if (ENDED.includes(code)) {
      wanted = false;
      onEnd(code, wasReady);
    } else if (wanted && !DORMANT.includes(code)) {
      const least = code === 4429 ? RATE_PAUSE : 0;
      notBefore = performance.now() + least;
      retry = setTimeout(open, least + Math.random() * Math.min(LONGEST_PAUSE, 500 * 2 ** failures++));
    }
  }

  // A half-open socket never reports its end: it is left alone and forgotten.
  function drop() {
    if (!socket) return;
    socket.onmessage = socket.onclose = null;
    socket.close();
    lost({ code: 1006 });
  }

  async function open() {
    wanted = true;
    if (socket || entering || !may() || !navigator.onLine || performance.now() < notBefore) return;
    clearTimeout(retry);
    entering = true;
    leave = await enter();
    entering = false;
    if (!wanted || !may()) return leave?.();
    socket = new WebSocket(url, "al.v1");
    socket.onopen = () => plain("hello", greet());
    socket.onmessage = receive;
    socket.onclose = lost;
  }

  function wake() {
    if (wanted && !document.hidden) (ready ? ping : open)();
  }

  window.addEventListener("online", wake);
  window.addEventListener("offline", drop);
  document.addEventListener("visibilitychange", wake);

  return {
    open,
    transmit: (frame) => ready && raw(frame),
    isReady: () => ready,
    close() {
      wanted = false;
      clearTimeout(retry);
      drop();
    },
  };
}
