// Brings a text's speech from the server to the loudspeaker, and knows which word sounds.

import { Clips } from "./clips.js";
import { feed, keyOf } from "./feed.js";
import { Player, SAMPLE_RATE } from "./player.js";
import { usual } from "./settings.js";
import { Timeline } from "./timeline.js";

/**
 * Events: `samples` with an Int16Array (24 kHz mono); `begun` with the seconds that the server's first samples
 * took; `trouble` with an error; `end` when all has been heard.
 */
export class Pump extends EventTarget {
  #player = new Player();
  #clips = new Clips();
  #timeline = new Timeline();
  #feeding = null;

  /** Something is to be heard, now or after a pause. */
  get busy() {
    return this.#feeding !== null;
  }

  /** Nothing is ready to sound. */
  get dry() {
    return this.#player.dry;
  }

  /** How often nothing sounded although more was coming. */
  get gaps() {
    return this.#player.gaps;
  }

  /** The browser plays nothing. */
  get silent() {
    return this.#player.silent;
  }

  /** The characters that are spoken a second, as far as is known. */
  pace(how) {
    return this.#clips.pace(keyOf(how), 14.5 * (how.speed ?? usual.speed));
  }

  /** The marks of what has begun to sound since the last call. */
  begun() {
    return this.busy ? this.#timeline.begun(this.#player.position) : [];
  }

  /** The mark of what will be heard after some seconds, or null. */
  coming(seconds) {
    return this.busy ? this.#timeline.after(this.#player.position + seconds * SAMPLE_RATE) : null;
  }

  /** Forget the speech that is held: another text is read. */
  forget() {
    this.#clips.clear();
  }

  pause() {
    this.#player.pause();
  }

  resume() {
    this.#player.resume();
  }

  /** Be silent, and ask the server for no more. */
  halt() {
    this.#feeding?.abort();
    this.#feeding = null;
    this.#player.cut();
    this.#timeline.cut(0);
    this.#player.pause();
  }

  /**
   * Play a text from a place on, in place of what is played.
   *
   * @param {number} position of the audio clock up to which what is ready still sounds; 0 ends it at once
   */
  async run(text, place, how, position = 0) {
    this.#feeding?.abort();
    const { signal } = (this.#feeding = new AbortController());
    this.#player.cut(position);
    this.#timeline.cut(position);
    try {
      await this.#pass(feed(text, place, how, this.#clips, signal), signal);
      await this.#player.heard();
    } catch (error) {
      if (signal.aborted) return;
      this.#tell("trouble", error);
      // Speech that came before its end broke off is heard.
      await this.#player.heard();
    }
    if (signal.aborted) return;
    this.halt();
    this.#tell("end");
  }

  async #pass(parts, signal) {
    const started = performance.now();
    let asked = false;
    for await (const { engine, marks, samples, sample } of parts) {
      signal.throwIfAborted();
      asked ||= engine !== undefined;
      if (marks) this.#timeline.wait(marks);
      if (!samples) continue;
      this.#timeline.place(sample, samples.length, this.#player.play(samples));
      this.#tell("samples", samples);
      if (asked && !sample) this.#tell("begun", (performance.now() - started) / 1000);
      await this.#player.room();
      signal.throwIfAborted();
    }
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
