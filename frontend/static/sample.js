// A second of a voice, to choose by.

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
export async function sample({ id, language }, signal) {
  const player = new Player();
  player.resume();
  signal.addEventListener("abort", () => player.close());
  try {
    const said = SAID[language.split("-")[0]] ?? SAID.en;
    const response = await askForSpeech({ input: said(titleOf(id)), voice: id }, signal, "sample");
    for await (const { samples } of speech(response)) {
      if (samples && !signal.aborted) player.play(samples);
    }
    await player.heard();
  } finally {
    player.close();
  }
}
