// The system's own keys and lock screen, and the tab's title, know what is read.

import { skip } from "./steps.js";
import { t } from "./words.js";

const NAME = "kokoro-live";

/**
 * @param {Reader} reader
 * @param {() => {title: string, author?: string} | null} shown what is open
 * @param {() => void} play plays or pauses
 */
export function showElsewhere(reader, shown, play) {
  const actions = {
    play,
    pause: () => reader.pause(),
    stop: () => reader.stop(),
    previoustrack: () => reader.sentence(-1),
    nexttrack: () => reader.sentence(1),
    seekbackward: () => skip(reader, -15),
    seekforward: () => skip(reader, 15),
  };
  const session = navigator.mediaSession;
  // A browser shows what plays for elements only, and samples on the audio clock are none.
  const beside = Object.assign(new Audio(), { loop: true, preload: "none", src: "static/silence.flac" });
  for (const [name, action] of Object.entries(actions)) {
    try {
      session?.setActionHandler(name, action);
    } catch {
      // A browser that has no such key.
    }
  }
  reader.addEventListener("state", ({ detail: state }) => {
    const open = shown();
    const runs = state === "playing" || state === "waiting";
    document.title = open && state !== "idle" ? `${runs ? "▶" : "⏸"} ${open.title} – ${NAME}` : NAME;
    if (!session) return;
    session.playbackState = runs ? "playing" : state === "paused" ? "paused" : "none";
    if (runs) beside.play().catch(() => {});
    else beside.pause();
    if (!open || !runs) return;
    const artwork = [{ src: new URL("static/icon-512.png", document.baseURI).href, sizes: "512x512", type: "image/png" }];
    session.metadata = new MediaMetadata({ title: open.title, artist: open.author || t("Read aloud"), album: NAME, artwork });
  });
}
