// Where on the audio clock sentences and words begin to sound.

export class Timeline {
  #waiting = []; // marks whose samples haven't come
  #marks = []; // {kind, line, from, to, at}, in order

  /** Forget marks from a position on, and those that wait. */
  cut(position) {
    this.#waiting = [];
    this.#marks = this.#marks.filter((mark) => mark.at < position);
  }

  /** Marks of samples that are still to come. */
  wait(marks) {
    this.#waiting.push(...marks);
  }

  /** Samples of a feed, counted from its beginning, have got their position. */
  place(sample, length, position) {
    const ready = this.#waiting.filter((mark) => mark.sample < sample + length);
    this.#waiting = this.#waiting.filter((mark) => mark.sample >= sample + length);
    this.#marks.push(...ready.map((mark) => ({ ...mark, at: position + Math.max(0, mark.sample - sample) })));
    this.#marks.sort((one, other) => one.at - other.at);
  }

  /** The marks that have begun to sound since the last call, in order. */
  begun(position) {
    const coming = this.#marks.findIndex((mark) => mark.at > position);
    return this.#marks.splice(0, coming < 0 ? this.#marks.length : coming);
  }

  /** The first word from a position on, or the first sentence where there are no words; or null. */
  after(position) {
    const coming = this.#marks.filter((mark) => mark.at >= position);
    return coming.find((mark) => mark.kind === "word") ?? coming[0] ?? null;
  }
}
