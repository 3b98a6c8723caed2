// Requests to the server; distinguishes temporary failures from refusals.
import { words } from "../words.js";

export class Refused extends Error {}
export class SignedOut extends Error {}

const TRY_AGAIN = new Set([408, 409, 425, 429]);

function withToken(pairs) {
  const body = new URLSearchParams(pairs);
  body.set("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
  return body;
}

/** POST `pairs`; resolves to the response, throws Refused if trying again would not help. */
export async function post(url, pairs, accept = "application/json") {
  const response = await fetch(url, {
    method: "POST",
    body: withToken(pairs),
    headers: { Accept: accept, "X-Requested-With": "fetch" },
    credentials: "same-origin",
  });
  // A 403 without JSON is Django's own: the session of the page has ended.
  const over = response.status === 403 && !isJson(response);
  if (response.redirected || response.status === 401 || over) throw new SignedOut();
  if (response.ok) return response;
  if (response.status >= 500 || TRY_AGAIN.has(response.status)) throw await failure(response);
  throw await refusal(response);
}

/** POST that outlives the page; the response is ignored. */
export function postOnLeave(url, pairs) {
  return navigator.sendBeacon(url, withToken(pairs));
}

function isJson(response) {
  return (response.headers.get("Content-Type") ?? "").includes("json");
}

/** A temporary failure, with the server's message if it has one. */
async function failure(response) {
  const told = isJson(response) ? await response.json().catch(() => ({})) : {};
  return Object.assign(new Error(`status ${response.status}`), { words: told.message ?? "" });
}

async function refusal(response) {
  try {
    const told = await response.json();
    return Object.assign(new Refused(told.message), { code: told.code });
  } catch {
    return new Refused(words("refused", { status: response.status }));
  }
}
