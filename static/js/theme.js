// Changes the theme and the navigation's width at once. The theme's form also works without this script.
const YEAR = 365 * 24 * 3600;

function keep(name, value) {
  document.cookie = `${name}=${value}; path=/; max-age=${YEAR}; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`;
}

function choose(theme) {
  document.documentElement.dataset.theme = theme;
  keep("labelhub_theme", theme);
  // Django's administration reads the same choice from here.
  localStorage.setItem("theme", theme);
  for (const button of document.querySelectorAll("[data-theme-form] [name=theme]")) {
    button.setAttribute("aria-pressed", String(button.value === theme));
  }
}

function narrow() {
  const root = document.documentElement;
  if (root.dataset.nav === "narrow") delete root.dataset.nav;
  else root.dataset.nav = "narrow";
  keep("labelhub_nav", root.dataset.nav ?? "wide");
}

export function watchTheme() {
  // Before busy.js marks the form, which is not sent.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-theme-form]") || !event.submitter) return;
    event.preventDefault();
    choose(event.submitter.value);
  }, { capture: true });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-nav-narrow]")) narrow();
  });
}
