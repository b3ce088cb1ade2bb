// One text's way from the server to the ear, and to what is shown of it.

import { askForSpeech, speech } from "./events.js";
import { Player } from "./player.js";

const PATIENCE = 3000;
/* Milliseconds in which a browser has opened its sound device, if there is one. */

const SILENT = "The speech comes, but the browser plays nothing: is there a sound device?";

/**
 * Play a request's speech to its end. What came of one that breaks off is heard, too.
 *
 * @param request {input, voice, speed}
 * @param {AbortSignal} signal ends it, and must be aborted in the end: that gives the sound device back
 * @param view begin(text), words(words), samples(samples), heard(second), end(), say(text), failed(error)
 * @throws {ApiError} nothing of it came; or DOMException "AbortError"
 */
export async function speak(request, signal, view) {
  const player = new Player();
  const started = performance.now();
  let frame = 0;
  signal.addEventListener("abort", () => {
    cancelAnimationFrame(frame);
    view.end();
    player.close();
  });
  view.say("Asking…");
  const response = await askForSpeech(request, signal);
  view.begin(request.input);
  frame = requestAnimationFrame(function follow() {
    view.heard(player.position);
    frame = requestAnimationFrame(follow);
  });
  const patience = setTimeout(() => player.silent && view.say(SILENT), PATIENCE);
  signal.addEventListener("abort", () => clearTimeout(patience));
  const engine = response.headers.get("X-Engine");
  let first;
  try {
    for await (const { words, samples } of speech(response)) {
      if (words) view.words(words);
      if (!samples) continue;
      player.play(samples);
      view.samples(samples);
      if (!first) {
        first = `first audio after ${((performance.now() - started) / 1000).toFixed(2)} s`;
        view.say(`${engine} speaks, ${first}.`);
      }
      await player.room();
      signal.throwIfAborted();
    }
  } catch (error) {
    signal.throwIfAborted();
    view.failed(error);
    await player.heard();
    return;
  }
  await player.heard();
  signal.throwIfAborted();
  view.heard(player.received);
  const gaps = player.gaps ? `, ${player.gaps === 1 ? "one gap" : `${player.gaps} gaps`}` : "";
  view.say(`Spoken: ${player.received.toFixed(1)} s, ${first}${gaps}.`);
}
