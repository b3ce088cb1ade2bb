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

const REST = 400; // ms for which a mouse rests on the button before the voice is heard

let hearing = null; // the AbortController of the voice that is heard

/**
 * Have a button let a voice be heard: by a press, which another one ends, or while a mouse rests on it. Another voice ends
 * it too. The document gets an event `kokoro-live:sample`, whose detail is a promise of the end.
 * @param voiceOf gives the voice, as the API lists it
 * @param failed is called with null as it begins, and with an error
 */
export function hearable(button, voiceOf, failed) {
  let rests = 0;
  let hovered = false; // it is heard because a mouse rests there
  let last = null; // the signal of its last sample
  const begin = async () => {
    hush();
    failed(null);
    const { signal } = (hearing = new AbortController());
    last = signal;
    button.classList.add("heard");
    const detail = sample(voiceOf(), signal);
    document.dispatchEvent(new CustomEvent("kokoro-live:sample", { detail }));
    await detail.catch((error) => signal.aborted || failed(error));
    if (signal === last) button.classList.remove("heard");
  };
  const heard = () => button.classList.contains("heard");
  button.addEventListener("click", () => {
    clearTimeout(rests);
    if (heard() && !hovered) hush();
    else if (!heard()) begin();
    hovered = false; // from now on it ends by a press
  });
  button.addEventListener("pointerenter", ({ pointerType }) => {
    if (pointerType === "mouse" && !button.disabled) rests = setTimeout(() => heard() || ((hovered = true), begin()), REST);
  });
  button.addEventListener("pointerleave", () => {
    clearTimeout(rests);
    if (hovered && heard()) hush();
    hovered = false;
  });
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
