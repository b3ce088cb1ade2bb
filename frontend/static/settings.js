// What a person chose, kept in this browser.

const KEPT = "kokoro-live settings";

const DEFAULTS = { voice: "", format: "", size: 1, keep: true, share: false, keys: true, language: "", favourites: [] };
/* voice, format: as the API writes them, empty: the server's default; speed: undefined: the server's default; size: of
   the text that is read, 1 is normal; language: of the page, empty: the browser's; favourites: ids of voices; keep: texts that were read are kept in this browser; share: and on the server; keys: single keys are
   shortcuts. */

/** The server's defaults; these until it has told them. */
export const usual = { speed: 1, format: "mp3" };

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
