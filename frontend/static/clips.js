// Speech that this page has had before, by voice and speed: going back asks the server for nothing.

import { SAMPLE_RATE } from "./player.js";

const MOST = 15 * 60 * SAMPLE_RATE;
/* Samples that are kept: 43 MB. */

const LITTLE = 10; // seconds of speech: a heading alone tells no pace

export class Clips {
  #all = []; // {key, line, from, to, pieces, samples, words: [{from, to, sample}]}, the oldest first
  #samples = 0;

  /** Keep a whole sentence's speech, or that of its end from some word on. */
  keep(clip) {
    this.#all.push(clip);
    this.#samples += clip.samples;
    while (this.#samples > MOST) this.#samples -= this.#all.shift().samples;
  }

  /** Forget all: another text is read. */
  clear() {
    this.#all = [];
    this.#samples = 0;
  }

  /**
   * Speech from a place on.
   * @returns {{clip: object, sample: number, offset: number} | null} the clip's sample at which it begins, and the
   *   character that it begins with
   */
  find(key, { line, offset }) {
    for (const clip of this.#all) {
      if (clip.key !== key || clip.line !== line || clip.from > offset || clip.to <= offset) continue;
      if (clip.from === offset) return { clip, sample: 0, offset };
      const word = clip.words.findLast((each) => each.from <= offset);
      if (word) return { clip, sample: word.sample, offset: word.from };
    }
    return null;
  }

  /** Characters a second of all that is held with that voice and speed; near `usual` while that is little. */
  pace(key, usual) {
    const held = this.#all.filter((clip) => clip.key === key);
    const sum = (value) => held.reduce((total, clip) => total + value(clip), 0);
    const characters = sum((clip) => clip.to - clip.from) + LITTLE * usual;
    return characters / (sum((clip) => clip.samples) / SAMPLE_RATE + LITTLE);
  }
}
