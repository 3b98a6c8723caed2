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
