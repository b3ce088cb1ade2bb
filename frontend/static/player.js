// Plays samples while more are coming, each piece exactly after the one before it.
//
// Buffer sources on the audio clock rather than an AudioWorklet, because a worklet needs a secure context and
// http://192.168.… is none; and rather than media source extensions, because Firefox has none for MP3.
// All positions are samples of the audio clock, which stands still while the player is paused.

export const SAMPLE_RATE = 24_000;

const LEAD = 0.05 * SAMPLE_RATE;
/* Samples between a piece's arrival and its sound, where nothing is playing: scheduling takes some of it. */

const FADE = 0.008;
/* Seconds in which sound that is cut off falls to silence: without it a cut clicks. */

const AHEAD = 10;
/* Seconds that are kept ready. More stays with the server, so a book takes no more memory than a page, and a change of
   the voice throws little away. */

const LATENCY_BLOCKS = navigator.userAgent.includes("Firefox/");
/* Firefox 153 on PulseAudio never returned from `outputLatency` while audio played: the page stood still for good. */

export class Player {
  #context = null;
  #volume; // falls to 0 before a pause
  #take = null; // the gain of what will be cut off together
  #pieces = []; // {source, end}, not ended yet, in order
  #next = 0; // where the next piece goes
  #waiting = [];
  #pausing = 0;
  #begun = false; // something was played since the last cut
  gaps = 0; // how often it had nothing to play although more was coming

  /** Open the sound device. Call it from a click or a key: browsers let nothing sound without one. */
  resume() {
    clearTimeout(this.#pausing);
    if (!this.#context) {
      this.#context = new AudioContext({ sampleRate: SAMPLE_RATE });
      this.#volume = new GainNode(this.#context);
      this.#volume.connect(this.#context.destination);
    }
    this.#context.resume();
    this.#volume.gain.cancelScheduledValues(0);
    this.#volume.gain.setTargetAtTime(1, this.#context.currentTime, FADE / 3);
  }

  /** Fall silent; what is ready stays ready. */
  pause() {
    if (!this.#context) return;
    this.#volume.gain.setTargetAtTime(0, this.#context.currentTime, FADE / 3);
    clearTimeout(this.#pausing);
    this.#pausing = setTimeout(() => this.#context.suspend(), 3 * FADE * 1000);
  }

  /** Play samples (16 bit, 24 kHz) after those before. Returns the position of the first of them. */
  play(samples) {
    const context = this.#context;
    const buffer = context.createBuffer(1, samples.length, SAMPLE_RATE);
    const channel = buffer.getChannelData(0);
    samples.forEach((sample, index) => (channel[index] = sample / 32_768));
    if (this.#next < this.#clock) {
      if (this.#begun) this.gaps += 1;
      this.#next = Math.ceil(this.#clock + LEAD);
    }
    this.#begun = true;
    if (!this.#take) {
      this.#take = new GainNode(context);
      this.#take.connect(this.#volume);
    }
    const at = this.#next;
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(this.#take);
    source.start(at / SAMPLE_RATE);
    const piece = { source, end: at + samples.length };
    this.#pieces.push(piece);
    source.onended = () => {
      this.#pieces.splice(this.#pieces.indexOf(piece), 1);
      this.#changed();
    };
    this.#next = piece.end;
    return at;
  }

  /** Let nothing of what is ready sound from that position on; what is played next begins there. */
  cut(position = 0) {
    if (!this.#context) return;
    const at = Math.max(position, Math.ceil(this.#clock + FADE * SAMPLE_RATE));
    this.#next = Math.min(this.#next, at);
    this.#begun = false;
    if (!this.#take) return;
    const { gain } = this.#take;
    gain.setValueAtTime(1, at / SAMPLE_RATE - FADE);
    gain.linearRampToValueAtTime(0, at / SAMPLE_RATE);
    for (const { source } of this.#pieces) {
      source.onended = null;
      source.stop(at / SAMPLE_RATE);
    }
    this.#pieces = [];
    this.#take = null;
    this.#changed();
  }

  /** Be silent for good, and give the sound device back. */
  close() {
    this.cut();
    if (this.#context?.state !== "closed") this.#context?.close();
  }

  /** The browser plays nothing: it found no sound device, or wants a click first. */
  get silent() {
    return this.#context?.state !== "running";
  }

  /** The position that is heard now. */
  get position() {
    const latency = (!LATENCY_BLOCKS && this.#context.outputLatency) || this.#context.baseLatency || 0;
    return this.#clock - latency * SAMPLE_RATE;
  }

  /** Nothing is ready, so that nothing sounds. */
  get dry() {
    return !this.#pieces.length;
  }

  /** Wait until less is ready than it keeps, or until something was cut off. */
  async room() {
    while ((this.#next - this.#clock) / SAMPLE_RATE > AHEAD && !this.dry) await this.#change();
  }

  /** Wait until all has been heard, or was cut off. */
  async heard() {
    while (!this.dry) await this.#change();
  }

  get #clock() {
    return this.#context.currentTime * SAMPLE_RATE;
  }

  #changed() {
    for (const go of this.#waiting.splice(0)) go();
  }

  #change() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
