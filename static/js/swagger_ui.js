// Starts Swagger UI; "Try it out" sends the CSRF token that changes in a session need.
const place = document.getElementById("swagger-ui");
const root = document.documentElement;
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

function applyTheme() {
  const { theme } = root.dataset;
  root.classList.toggle("dark-mode", theme === "dark" || (theme === "auto" && systemIsDark.matches));
}

function addCsrfToken(request) {
  const isOurs = new URL(request.url, location.href).origin === location.origin;
  if (place.dataset.csrf && isOurs) request.headers["X-CSRFToken"] = place.dataset.csrf;
  return request;
}

applyTheme();
systemIsDark.addEventListener("change", applyTheme);
SwaggerUIBundle({
  domNode: place,
  url: place.dataset.document,
  requestInterceptor: addCsrfToken,
  deepLinking: true,
  docExpansion: "none",
  validatorUrl: null,
});
