// Server-sent events out of a response's body, and speech out of those.

import { ApiError, ask, reached } from "./api.js";
import { t } from "./words.js";

/** The JSON of each event, as it comes. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reached(reader.read());
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const data = part.split("\n").filter((line) => line.startsWith("data: "));
      yield JSON.parse(data.map((line) => line.slice(6)).join("\n"));
    }
  }
}

/**
 * Ask for speech, with the samples at which its sentences begin, and the times of its words from an engine that can
 * tell them.
 * @param request {input, voice, speed}
 * @param {string} use what the speech is for: of this page's speech for one use the last one ends those before it
 * @returns {Promise<Response>} of events
 */
export function askForSpeech(request, signal, use = "reading") {
  const how = { response_format: "pcm", stream_format: "sse", timestamps: "sentence" };
  const body = { ...request, ...how, user: `${PAGE}/${use}`, on_busy: "interrupt" };
  return ask("v1/audio/speech", { body, signal, patient: true });
}

const PAGE = `page ${Math.random().toString(36).slice(2)}`;
/* crypto.randomUUID wants a secure context, and http://192.168.… is none. */

/**
 * The parts of what `askForSpeech` gave, until it is whole.
 * @yields {{sentence?: {text: string, sample: number}, words?: {word: string, start: number, end: number}[],
 *   samples?: Int16Array}} one of them; a word's times in seconds of the audio, samples at 24 kHz mono
 * @throws {ApiError} it broke off
 */
export async function* speech(response) {
  let whole = false;
  for await (const event of events(response.body)) {
    if (event.type === "speech.audio.sentence") yield { sentence: event };
    else if (event.type === "speech.audio.words") yield { words: event.words };
    else if (event.type === "speech.audio.delta") yield { samples: samplesOf(event.audio) };
    // Not before the answer's last byte is another one asked for: it would end this one.
    else if (event.type === "speech.audio.done") whole = true;
    else if (event.type === "error") throw new ApiError(event.error.message, event.error);
  }
  if (!whole) throw new ApiError(t("The speech broke off before its end."), { code: "lost" });
}

/** s16le out of base64. Every machine that browsers run on today is little-endian. */
function samplesOf(base64) {
  const characters = atob(base64);
  const bytes = new Uint8Array(characters.length);
  // Uint8Array.from calls a function for each byte: most of the page's scripting while it reads.
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = characters.charCodeAt(at);
  return new Int16Array(bytes.buffer);
}
