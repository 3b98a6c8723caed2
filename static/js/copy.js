// <button data-copy="id of the element whose text is copied">
import { toast } from "./toast.js";
import { words } from "./words.js";

export function watchCopy() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-copy]");
    if (!button) return;
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      toast(words("copied"), "ok");
    } catch {
      // Without HTTPS there is no clipboard: select the text, so that one key press copies it.
      getSelection().selectAllChildren(source);
      toast(words("copy-by-key"), "info");
    }
  });
}
