// Speech as a file, with how much of it is made.

import { ask, reached } from "./api.js";
import { keepAsFile } from "./made.js";
import { clear, failed, say } from "./notices.js";
import { duration } from "./transport.js";
import { t } from "./words.js";

const LOOK = 1000; // milliseconds

const $ = (id) => document.getElementById(id);
let running = null; // the AbortController of a download

/**
 * Make and keep a request's speech, and say so. Another download takes its place.
 * @param {number} total about how many seconds it will be
 */
export async function save(request, title, total) {
  running?.abort();
  const { signal } = (running = new AbortController());
  clear();
  say("");
  const id = `page-${Math.random().toString(36).slice(2)}`;
  const looking = progress(id, total, request.response_format, signal);
  try {
    const size = await download(request, title, id, signal);
    say(t("Downloaded: {size} kB.", { size: Math.ceil(size / 1000) }));
  } catch (error) {
    failed(error);
  } finally {
    clearInterval(looking);
    if (signal === running?.signal) $("saving").hidden = true;
  }
}

/** Make no file any more. */
export function cancel() {
  running?.abort();
  $("saving").hidden = true;
}

/** Show how much is made: the server's status knows it by the request's id. */
function progress(id, total, format, signal) {
  const [bar, words] = [$("saving").querySelector("progress"), $("saving").querySelector("span")];
  $("saving").hidden = false;
  bar.value = 0;
  words.textContent = t("Making the {format} file…", { format });
  const started = performance.now();
  return setInterval(async () => {
    const found = await ask("status", { signal }).then((response) => response.json(), () => ({}));
    const stream = found.streams?.find((each) => each.request_id === id);
    if (signal.aborted || !stream) return;
    const made = Math.min(stream.seconds_sent + stream.seconds_ready, total);
    const left = made ? ((performance.now() - started) / 1000 / made) * (total - made) : NaN;
    bar.value = made / total;
    words.textContent = t("Making the {format} file: {made} of {total}", { format, made: clock(made), total: clock(total) });
    if (left > 1) words.textContent += `, ${t("{time} left", { time: duration(left) })}`;
  }, LOOK);
}

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

/** Have the browser keep a request's speech, in its format, as a file. Returns its bytes. */
async function download(request, title, id, signal) {
  const audio = await file(request, id, signal);
  keepAsFile(audio, `${title}.${request.response_format}`);
  return audio.size;
}

/** Whole, so that its header has its true length; what is too long for that as it is streamed. */
async function file(request, id, signal) {
  const how = { signal, patient: true, id };
  let response;
  try {
    response = await ask("v1/audio/speech", { body: { ...request, priority: "file", stream: false }, ...how });
  } catch (error) {
    if (error.code !== "clip_too_long") throw error;
    response = await ask("v1/audio/speech", { body: { ...request, priority: "file" }, ...how });
  }
  return await reached(response.blob());
}
