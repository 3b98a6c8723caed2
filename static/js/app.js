// What every page needs: keys, dialogs, toasts, busy buttons, the theme. Everything works without it.
import { watchBusy } from "./busy.js";
import { watchCopy } from "./copy.js";
import { watchDialogs } from "./dialog.js";
import { watchErrors } from "./errors.js";
import { watchKeys } from "./shortcuts.js";
import { watchTheme } from "./theme.js";
import { watchToasts } from "./toast.js";

watchBusy();
watchCopy();
watchDialogs();
watchErrors();
watchKeys();
watchTheme();
watchToasts();
