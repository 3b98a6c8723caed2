// Runs before ReDoc's own script, and starts it. ReDoc's style elements get the nonce that the page's
// policy requires. Its only picture, a logo on another server, becomes an empty span.
const { nonce } = document.currentScript;
const createElement = document.createElement.bind(document);

document.createElement = (name, options) => {
  const element = createElement(name === "img" ? "span" : name, options);
  if (name === "style") element.nonce = nonce;
  return element;
};

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("redoc");
  Redoc.init(place.dataset.document, {}, place);
});
