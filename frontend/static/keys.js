// Keys that do what the buttons do, where no field is being typed into.

import { settings } from "./settings.js";

/**
 * @param actions by the name of the key, with "Shift+" before it
 * @param {Set<string>} always those that also work where single keys are no shortcuts
 */
export function listen(actions, always) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") || busy(event)) return;
    const named = event.shiftKey && event.key.length > 1 ? `Shift+${event.key}` : event.key.toLowerCase();
    const name = named in actions ? named : event.key;
    const action = settings.keys || always.has(name) ? actions[name] : undefined;
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/** The key means something to the element that has the focus. */
function busy({ target, key }) {
  if (key === "Escape") return false;
  if (target.type === "range") return /^(Arrow|Page|Home|End)/.test(key);
  if (target.closest("input, textarea, select, [role=tablist]")) return true;
  return (key === " " || key === "Enter") && target.closest("button, a, summary") !== null;
}
