// The system's own keys and lock screen, and the tab's title, know what is read.

import { coverOf } from "./cover.js";
import { skip } from "./steps.js";
import { t } from "./words.js";

const NAME = "kokoro-live";

let [last, acts] = [null, null]; // what the system shows, and what its keys do

/** Something begins to sound: what did before pauses, the system shows it, and its keys do these actions. @param {{title: string, author?: string, cover?: string}} entry */
export function showSystem(entry, actions) {
  const session = navigator.mediaSession;
  if (entry === last) return;
  if (acts !== actions) acts?.pause();
  [last, acts] = [entry, actions];
  if (!session) return;
  session.playbackState = "none"; // an element's own
  for (const name of ["play", "pause", "stop", "previoustrack", "nexttrack", "seekbackward", "seekforward"]) {
    try {
      session.setActionHandler(name, actions[name] ?? null);
    } catch {
      // A browser that has no such key.
    }
  }
  const artwork = [{ src: coverOf(entry), sizes: "320x480", type: "image/jpeg" }];
  session.metadata = new MediaMetadata({ title: entry.title, artist: entry.author || t("Read aloud"), album: NAME, artwork });
}

/**
 * @param {Reader} reader
 * @param {() => {title: string, author?: string, cover?: string} | null} shown what is open
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
  reader.addEventListener("state", ({ detail: state }) => {
    const open = shown();
    const runs = state === "playing" || state === "waiting";
    document.title = open && state !== "idle" ? `${runs ? "▶" : "⏸"} ${open.title} – ${NAME}` : NAME;
    if (open && runs) showSystem(open, actions);
    if (!session) return;
    session.playbackState = runs ? "playing" : state === "paused" ? "paused" : "none";
    if (runs) beside.play().catch(() => {});
    else beside.pause();
  });
}
