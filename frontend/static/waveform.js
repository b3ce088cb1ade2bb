// Draws speech as it comes: what has been heard in the accent's colour, what is still to come fainter.

import { SAMPLE_RATE } from "./player.js";

const FINEST = 240; // samples a peak
const MOST = 2048; // peaks
const SHORTEST = 6; // seconds that fill the width; longer speech is drawn closer
const BAR = 3; // CSS pixels from one bar to the next

export class Waveform {
  #canvas;
  #peaks = []; // of |sample|, 0 to 1
  #each = FINEST;
  #partial = { peak: 0, samples: 0 };
  #heard = 0; // seconds
  #asked = false;

  constructor(canvas) {
    this.#canvas = canvas;
    new ResizeObserver(() => this.#redraw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#redraw());
  }

  clear() {
    this.#peaks = [];
    this.#each = FINEST;
    this.#partial = { peak: 0, samples: 0 };
    this.heard(0);
  }

  /** More samples, 16 bit. */
  add(samples) {
    for (const sample of samples) {
      const part = this.#partial;
      part.peak = Math.max(part.peak, Math.abs(sample) / 32_768);
      part.samples += 1;
      if (part.samples >= this.#each) this.#keep(part.peak);
    }
    this.#redraw();
  }

  /** Everything before that second has sounded. */
  heard(seconds) {
    this.#heard = seconds;
    this.#redraw();
  }

  #keep(peak) {
    this.#peaks.push(peak);
    this.#partial = { peak: 0, samples: 0 };
    if (this.#peaks.length === MOST) {
      this.#peaks = this.#peaks.filter((_, place) => place % 2 === 0).map((p, i) => Math.max(p, this.#peaks[2 * i + 1]));
      this.#each *= 2;
    }
  }

  #redraw() {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      this.#draw();
    });
  }

  #draw() {
    const canvas = this.#canvas;
    const { clientWidth: width, clientHeight: height } = canvas;
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    const pen = canvas.getContext("2d");
    pen.scale(devicePixelRatio, devicePixelRatio);
    const style = getComputedStyle(canvas);
    const [heard, coming] = [style.color, style.getPropertyValue("--wave")];
    const perSecond = SAMPLE_RATE / this.#each;
    const shown = Math.max(this.#peaks.length, SHORTEST * perSecond);
    const bars = Math.floor(width / BAR);
    for (let bar = 0; bar < bars; bar += 1) {
      const first = Math.floor((bar * shown) / bars);
      if (first >= this.#peaks.length) break;
      const after = Math.max(first + 1, Math.floor(((bar + 1) * shown) / bars));
      const tall = Math.max(2, Math.max(...this.#peaks.slice(first, after)) * height);
      pen.fillStyle = first / perSecond < this.#heard ? heard : coming;
      pen.fillRect(bar * BAR, (height - tall) / 2, BAR - 1, tall);
    }
  }
}
