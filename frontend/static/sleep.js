// The sleep timer: reading pauses after some minutes, or before the next chapter.

import { t } from "./words.js";

const MINUTES = [5, 10, 15, 30, 45, 60, 90];

/**
 * @param {HTMLSelectElement} field
 * @param {Reader} reader
 * @param {Chapters} chapters
 * @param {(text: string) => void} say
 */
export function sleepTimer(field, reader, chapters, say) {
  let timer = 0;
  let end; // the line before which it pauses
  field.append(
    new Option(t("Off"), ""),
    ...MINUTES.map((minutes) => new Option(t("In {minutes} minutes", { minutes }), minutes)),
    new Option(t("At the end of the chapter"), "chapter"),
  );
  const off = () => {
    clearTimeout(timer);
    end = undefined;
    field.value = "";
  };
  const sleep = () => {
    reader.pause();
    say(t("Paused by the sleep timer"));
    off();
  };
  field.addEventListener("change", () => {
    const { value } = field;
    off();
    field.value = value;
    if (value === "chapter") end = chapters.endOf(reader.place.line) ?? Infinity;
    else if (value) timer = setTimeout(sleep, value * 60_000);
  });
  reader.addEventListener("place", ({ detail: { line } }) => {
    if (end === undefined || line < end) return;
    const place = { line: end, offset: 0 };
    sleep();
    reader.seek(place);
  });
}
