// Texts of scripts in the language of the page, which has them as <template data-words data-copied="Copied.">.

/** The text `key`, with `{name}` replaced by `values.name`. */
export function words(key, values = {}) {
  const text = document.querySelector(`template[data-words][data-${key}]`).getAttribute(`data-${key}`);
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}
