// Speech by itself: a second of a voice, to choose by, or a sentence.

import { askForSpeech, speech } from "./events.js";
import { Player } from "./player.js";
import { titleOf } from "./voices.js";

const SAID = {
  en: (name) => `Hello, I'm ${name}.`,
  es: (name) => `Hola, soy ${name}.`,
  fr: (name) => `Bonjour, c'est ${name}.`,
  hi: () => "नमस्ते।",
  it: (name) => `Ciao, sono ${name}.`,
  ja: () => "こんにちは。",
  pt: (name) => `Olá, eu sou ${name}.`,
  zh: () => "你好。",
  cmn: () => "你好。",
};

/**
 * Let a voice say its name.
 *
 * @param {{id: string, language: string}} voice as the API lists it
 * @param {AbortSignal} signal ends it
 * @throws {ApiError} or DOMException "AbortError"
 */
function sample({ id, language }, signal) {
  const said = SAID[language.split("-")[0]] ?? SAID.en;
  return sound({ input: said(titleOf(id)), voice: id }, signal, "sample");
}

let hearing = null; // the AbortController of the voice that is heard

/**
 * Let a voice be heard by a button, which shows it; a second press ends it, and so does another voice. The document gets
 * an event `kokoro-live:sample`, whose detail is a promise of the end.
 * @throws {ApiError}
 */
export async function hear(voice, button) {
  const again = button.classList.contains("heard");
  hush();
  if (again) return;
  const { signal } = (hearing = new AbortController());
  button.classList.add("heard");
  const detail = sample(voice, signal);
  document.dispatchEvent(new CustomEvent("kokoro-live:sample", { detail }));
  try {
    await detail;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    button.classList.remove("heard");
  }
}

/** Hear no voice any more. */
export const hush = () => hearing?.abort();

/**
 * Let a request's speech be heard, to its end.
 *
 * @param request {input, voice, speed} or {score}
 * @param {string} use as of `askForSpeech`
 * @throws {ApiError} or DOMException "AbortError"
 */
export async function sound(request, signal, use) {
  const player = new Player();
  player.resume();
  signal.addEventListener("abort", () => player.close());
  try {
    for await (const { samples } of speech(await askForSpeech(request, signal, use))) {
      if (samples && !signal.aborted) player.play(samples);
    }
    await player.heard();
  } finally {
    player.close();
  }
}
