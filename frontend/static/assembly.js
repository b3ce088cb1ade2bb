// Puts one response together: whole sentences of it are kept, and its words find their places in the line.

import { SAMPLE_RATE } from "./player.js";

const NEARBY = 300;
/* Characters after the last word within which the next one is looked for: one that was written otherwise, and isn't
   found, must not take its namesake from the line's other end. */

export class Assembly {
  #clips;
  #origin; // {key, line, from}
  #written;
  #begun = []; // the clips of the response's sentences, in order
  #received = 0;
  #sentence; // the character at which the last sentence began
  #word; // the character after the last word

  /**
   * @param {Clips} clips where whole sentences are kept
   * @param {{key: string, line: number, from: number}} origin the response speaks that line from that character on
   * @param {string} written the whole line
   */
  constructor(clips, origin, written) {
    this.#clips = clips;
    this.#origin = origin;
    this.#written = written;
    this.#sentence = this.#word = origin.from;
  }

  /** A sentence begins at that sample of the response. */
  sentence({ text, sample }) {
    const found = this.#written.indexOf(text, this.#sentence);
    const from = this.#begun.length ? Math.max(found, this.#sentence) : this.#origin.from;
    const before = this.#begun.at(-1);
    if (before) Object.assign(before, { to: from, end: sample });
    this.#begin(from, sample);
    this.#sentence = from;
    return [{ kind: "sentence", from, to: this.#written.length, sample }];
  }

  /** Words sound, at times that count from the response's beginning. */
  words(words) {
    const marks = [];
    for (const { word, start } of words) {
      const from = this.#written.indexOf(word, this.#word);
      if (!word || from < 0 || from > this.#word + NEARBY) continue;
      const to = (this.#word = from + word.length);
      const sample = Math.round(start * SAMPLE_RATE);
      marks.push({ kind: "word", from, to, sample });
      const clip = this.#begun.findLast((each) => each.start <= sample);
      clip?.words.push({ from, to, sample: sample - clip.start });
    }
    return marks;
  }

  /** The response's next samples. */
  samples(samples) {
    if (!this.#begun.length) this.#begin(this.#origin.from, 0);
    for (let taken = 0; taken < samples.length; ) {
      const clip = this.#begun[0];
      const piece = samples.subarray(taken, taken + clip.end - this.#received);
      clip.pieces.push(piece);
      clip.samples += piece.length;
      taken += piece.length;
      this.#received += piece.length;
      if (this.#received >= clip.end) this.#clips.keep(this.#begun.shift());
    }
  }

  /** The response is whole. */
  finish() {
    if (this.#begun.length) this.#clips.keep(this.#begun.shift());
  }

  #begin(from, start) {
    const { key, line } = this.#origin;
    const to = this.#written.length;
    this.#begun.push({ key, line, from, to, start, end: Infinity, pieces: [], samples: 0, words: [] });
  }
}
