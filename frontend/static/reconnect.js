// A server that went away: reading goes on by itself when it is back, and its error vanishes.

import { clear, isLost } from "./notices.js";

const MOST = 5; // times in a row without a sound

/** @param {Reader} reader @returns a function that gives up waiting */
export function goOn(reader) {
  let waits = false;
  let back = false;
  let tries = 0;
  const go = () => {
    if (!waits || !back || reader.state !== "idle" || tries >= MOST) return;
    waits = false;
    tries += 1;
    reader.play();
  };
  reader.pump.addEventListener("trouble", ({ detail }) => {
    waits = detail.code === "lost";
    back = false;
  });
  reader.addEventListener("state", ({ detail: state }) => {
    if (state === "playing") tries = 0;
    if (state === "paused") waits = false;
    go();
  });
  document.addEventListener("kokoro-live:back", () => {
    if (isLost()) clear();
    back = true;
    go();
  });
  return () => (waits = false);
}

/** Have reading pause while other sounds are heard, of which `kokoro-live:sample` tells, and go on after the last. */
export function giveWay(reader) {
  let [others, waits] = [0, false];
  document.addEventListener("kokoro-live:sample", async ({ detail: ended }) => {
    others += 1;
    if (reader.state === "playing" || reader.state === "waiting") {
      waits = true;
      reader.pause();
    }
    await ended.catch(() => {}); // whoever let it be heard tells of it
    others -= 1;
    if (others || !waits) return;
    waits = false;
    if (reader.state === "paused") reader.toggle();
  });
}
