// What a person chose, kept in this browser.

const KEPT = "kokoro-live settings";

const DEFAULTS = { voice: "", speed: 1, format: "mp3", size: 1, keep: true, keys: true };
/* voice: as the API writes it, empty: the server's default; size: of the text that is read, 1 is normal; keep: texts
   that were read are kept in this browser; keys: single keys are shortcuts. */

/** The settings now. */
export const settings = { ...DEFAULTS, ...kept() };

/** Change some of them, and keep them all. */
export function choose(some) {
  Object.assign(settings, some);
  try {
    localStorage.setItem(KEPT, JSON.stringify(settings));
  } catch {
    // A browser that keeps nothing: they hold until the page is closed.
  }
}

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}
