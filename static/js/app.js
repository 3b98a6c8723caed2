// Scripts of every page: keys, dialogs, toasts, busy buttons, the theme. Pages also work without them.
import { watchBusy } from "./busy.js";
import { watchCopy } from "./copy.js";
import { watchDialogs } from "./dialog.js";
import { watchErrors } from "./errors.js";
import { watchPalette } from "./palette.js";
import { watchKeys } from "./shortcuts.js";
import { watchTheme } from "./theme.js";
import { watchToasts } from "./toast.js";

watchBusy();
watchCopy();
watchDialogs();
watchErrors();
watchKeys();
watchPalette();
watchTheme();
watchToasts();

// Where the tabs are wider than the screen, the current one is in sight.
const tab = document.querySelector(".tabs > [aria-current]");
if (tab) {
  const [here, bar] = [tab, tab.parentElement].map((element) => element.getBoundingClientRect());
  tab.parentElement.scrollBy(here.left + here.width / 2 - bar.left - bar.width / 2, 0);
}
