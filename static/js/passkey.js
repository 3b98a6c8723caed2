// <form data-passkey="create|get"> asks the browser for a passkey and sends what it says.
// The options stand in the page (data-options: an id) or are fetched (data-options-at: an address).
const toBytes = (text) =>
  Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=+$/, "");

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential) continue;
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const problem = form.querySelector("[role=alert]");
    problem.hidden = true;
    try {
      const credential = form.dataset.passkey === "create" ? await create(form) : await get(form);
      form.elements.credential.value = JSON.stringify(credential);
    } catch {
      problem.hidden = false; // cancelled, unknown here, or not possible
      return;
    }
    form.submit();
  });
}

async function optionsOf(form) {
  const { options, optionsAt } = form.dataset;
  if (options) return JSON.parse(document.getElementById(options).textContent);
  const headers = { Accept: "application/json", "X-Requested-With": "XMLHttpRequest" };
  return (await fetch(optionsAt, { headers })).json();
}

const decoded = (listed) => listed?.map((one) => ({ ...one, id: toBytes(one.id) }));

async function create(form) {
  const { publicKey } = (await optionsOf(form)).creation_options;
  const alone = form.elements.passwordless?.checked;
  publicKey.challenge = toBytes(publicKey.challenge);
  publicKey.user.id = toBytes(publicKey.user.id);
  publicKey.excludeCredentials = decoded(publicKey.excludeCredentials);
  publicKey.authenticatorSelection = {
    ...publicKey.authenticatorSelection,
    residentKey: alone ? "required" : "discouraged",
    requireResidentKey: Boolean(alone),
    userVerification: alone ? "required" : "preferred",
  };
  const made = await navigator.credentials.create({ publicKey });
  return asJson(made, {
    attestationObject: toText(made.response.attestationObject),
    transports: made.response.getTransports?.() ?? [],
  });
}

async function get(form) {
  const { publicKey } = (await optionsOf(form)).request_options;
  publicKey.challenge = toBytes(publicKey.challenge);
  publicKey.allowCredentials = decoded(publicKey.allowCredentials);
  const used = await navigator.credentials.get({ publicKey });
  const { userHandle } = used.response;
  return asJson(used, {
    authenticatorData: toText(used.response.authenticatorData),
    signature: toText(used.response.signature),
    userHandle: userHandle && toText(userHandle),
  });
}

function asJson(credential, response) {
  return {
    id: credential.id,
    rawId: toText(credential.rawId),
    type: credential.type,
    authenticatorAttachment: credential.authenticatorAttachment,
    clientExtensionResults: credential.getClientExtensionResults(),
    response: { ...response, clientDataJSON: toText(credential.response.clientDataJSON) },
  };
}
