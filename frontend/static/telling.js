// What the page says while it reads.
//
// Each piece of samples that comes is also told as an event on the document, `kokoro-live:samples`, whose detail is
// the Int16Array (24 kHz mono): for whoever wants to look at what is played.

import { failed, say, startOver } from "./notices.js";
import { decimal, t } from "./words.js";

const SILENT = t("The speech comes, but the browser plays nothing: is there a sound device?");
const PATIENCE = 3000;
/* Milliseconds in which a browser has opened its sound device, if there is one. */

/** @param {Reader} reader */
export function tellReading(reader) {
  let patience = 0;
  reader.addEventListener("state", ({ detail: state }) => {
    clearTimeout(patience);
    const before = document.body.dataset.reading;
    document.body.dataset.reading = state;
    if (state === "idle" && reader.ended) say(t(reader.pump.gaps ? "Read to the end, {gaps} gaps" : "Read to the end", { gaps: reader.pump.gaps }));
    if (state === "idle" || state === "paused") return;
    if (before === "idle") startOver();
    patience = setTimeout(() => reader.pump.silent && say(SILENT), PATIENCE);
  });
  reader.pump.addEventListener("begun", ({ detail: seconds }) => {
    say(t("First sound after {seconds} s", { seconds: decimal(seconds, 2) }));
  });
  reader.pump.addEventListener("samples", ({ detail }) => {
    document.dispatchEvent(new CustomEvent("kokoro-live:samples", { detail }));
  });
  reader.pump.addEventListener("trouble", ({ detail }) => failed(detail));
}
