// Speech as a file.

import { ask, reached } from "./api.js";
import { clear, failed, say } from "./notices.js";

let running = null; // the AbortController of a download

/** Make and keep a request's speech, and say so. Another download takes its place. */
export async function save(request, title) {
  running?.abort();
  const { signal } = (running = new AbortController());
  clear();
  say(`Making the ${request.response_format} file…`);
  try {
    const size = await download(request, title, signal);
    say(`Downloaded: ${Math.ceil(size / 1000)} kB.`);
  } catch (error) {
    if (signal === running?.signal) say("");
    failed(error);
  }
}

/** Make no file any more. */
export function cancel() {
  running?.abort();
}

/** Have the browser keep a request's speech, in its format, as a file. Returns its bytes. */
async function download(request, title, signal) {
  const audio = await file(request, signal);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(audio);
  link.download = `${title.replace(/[\\/:*?"<>|\p{Cc}]+/gu, " ").trim() || "speech"}.${request.response_format}`;
  link.click();
  // The click has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return audio.size;
}

/** Whole, so that its header has its true length; what is too long for that as it is streamed. */
async function file(request, signal) {
  let response;
  try {
    response = await ask("v1/audio/speech", { body: { ...request, priority: "file", stream: false }, signal, patient: true });
  } catch (error) {
    if (error.code !== "clip_too_long") throw error;
    response = await ask("v1/audio/speech", { body: { ...request, priority: "file" }, signal, patient: true });
  }
  return await reached(response.blob());
}
