// Plays samples while more are coming, each piece exactly after the one before it.
//
// Buffer sources on the audio clock rather than an AudioWorklet, because a worklet needs a secure context and
// http://192.168.… is none; and rather than media source extensions, because Firefox has none for MP3.

export const SAMPLE_RATE = 24_000;

const LEAD = 0.06;
/* Seconds between a piece's arrival and its sound, where nothing is playing: scheduling takes some of it. */

const AHEAD = 20;
/* Seconds that are kept ready. More stays with the server, so a book takes no more memory than a page. */

export class Player {
  #context = new AudioContext({ sampleRate: SAMPLE_RATE });
  #pieces = []; // not ended yet, in order: {source, at, start, length}, in samples of the context and of the speech
  #next = 0; // the context's sample after the last piece
  #received = 0;
  #changed = () => {};
  gaps = 0; // how often it had nothing to play

  /** Make it from a click or a key: browsers let nothing sound without one. */
  constructor() {
    this.#context.resume();
  }

  /** Play samples (16 bit, 24 kHz) after those before. */
  play(samples) {
    const buffer = this.#context.createBuffer(1, samples.length, SAMPLE_RATE);
    const channel = buffer.getChannelData(0);
    samples.forEach((sample, index) => (channel[index] = sample / 32_768));
    const now = Math.ceil(this.#context.currentTime * SAMPLE_RATE);
    if (this.#received === 0 || this.#next < now) {
      if (this.#received) this.gaps += 1;
      this.#next = now + LEAD * SAMPLE_RATE;
    }
    const source = new AudioBufferSourceNode(this.#context, { buffer });
    source.connect(this.#context.destination);
    source.start(this.#next / SAMPLE_RATE);
    const piece = { source, at: this.#next, start: this.#received, length: samples.length };
    this.#pieces.push(piece);
    source.onended = () => {
      this.#pieces.splice(this.#pieces.indexOf(piece), 1);
      this.#changed();
    };
    this.#next += samples.length;
    this.#received += samples.length;
  }

  /** Seconds of speech that were given to it. */
  get received() {
    return this.#received / SAMPLE_RATE;
  }

  /** The browser plays nothing: it found no sound device, or wants a click first. */
  get silent() {
    return this.#context.state !== "running";
  }

  /** The second of the speech that sounds now. */
  get position() {
    const context = this.#context;
    const now = (context.currentTime - (context.outputLatency || context.baseLatency)) * SAMPLE_RATE;
    let position = this.#pieces.length ? this.#pieces[0].start : this.#received;
    for (const { at, start, length } of this.#pieces) {
      if (now < at) break;
      position = start + Math.min(now - at, length);
    }
    return position / SAMPLE_RATE;
  }

  /** Wait until less is ready than it keeps. */
  async room() {
    while (this.#next / SAMPLE_RATE - this.#context.currentTime > AHEAD && this.#pieces.length) await this.#change();
  }

  /** Wait until all has been heard. */
  async heard() {
    while (this.#pieces.length) await this.#change();
  }

  /** Be silent at once, and give the sound device back. */
  async close() {
    for (const { source } of this.#pieces) source.onended = null;
    this.#pieces = [];
    this.#changed();
    await this.#context.close();
  }

  #change() {
    return new Promise((resolve) => (this.#changed = resolve));
  }
}
