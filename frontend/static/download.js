// Speech as a file.

import { ask, reached } from "./api.js";

/**
 * Have the browser keep a request's speech, in its format, as a file.
 * @returns {Promise<number>} its bytes
 */
export async function download(request, signal) {
  const audio = await file(request, signal);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(audio);
  link.download = `speech.${request.response_format}`;
  link.click();
  // The click has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return audio.size;
}

/** Whole, so that its header has its true length; what is too long for that as it is streamed. */
async function file(request, signal) {
  let response;
  try {
    response = await ask("v1/audio/speech", { body: { ...request, stream: false }, signal });
  } catch (error) {
    if (error.code !== "clip_too_long") throw error;
    response = await ask("v1/audio/speech", { body: request, signal });
  }
  return await reached(response.blob());
}
