// The bar with which playback is controlled, and its keys.

import { settings, usual } from "./settings.js";
import { skip } from "./steps.js";
import { decimal, t } from "./words.js";

const STEP = 0.1;
const [SLOWEST, FASTEST] = [0.25, 4];
const PATIENCE = 250;
/* Milliseconds after the last press of a button before the speed of what is read changes: five presses are one change. */

export class Transport {
  #elements;
  #reader;
  #on;
  #changing = 0;

  /**
   * @param elements {play, back, forward, earlier, later, progress, left, slower, faster, speed}
   * @param {Reader} reader
   * @param on {play: called in place of the reader's where no text is open, speed: called with a new one}
   */
  constructor(elements, reader, on) {
    this.#elements = elements;
    this.#reader = reader;
    this.#on = on;
    const { play, back, forward, earlier, later, progress, slower, faster } = elements;
    earlier.addEventListener("click", () => skip(reader, -15));
    later.addEventListener("click", () => skip(reader, 15));
    play.addEventListener("click", () => this.toggle());
    back.addEventListener("click", () => reader.sentence(-1));
    forward.addEventListener("click", () => reader.sentence(1));
    slower.addEventListener("click", () => this.faster(-1));
    faster.addEventListener("click", () => this.faster(1));
    progress.addEventListener("input", () => this.#told(Number(progress.value)));
    progress.addEventListener("change", () => reader.seek(reader.text.placeOf(Number(progress.value))));
    reader.addEventListener("state", () => this.show());
    reader.addEventListener("place", () => this.show());
    this.show();
  }

  toggle() {
    if (this.#reader.text) this.#reader.toggle();
    else this.#on.play();
  }

  /** Change the speed by steps. */
  faster(steps) {
    const speed = Math.round(((settings.speed ?? usual.speed) + steps * STEP) * 100) / 100;
    const within = Math.min(FASTEST, Math.max(SLOWEST, speed));
    this.#on.speed(within);
    this.show();
    clearTimeout(this.#changing);
    const change = () => this.#reader.change({ ...this.#reader.how, speed: settings.speed });
    // A text that is begun right after the press is asked for at the new speed.
    if (this.#reader.state === "idle") change();
    else this.#changing = setTimeout(change, PATIENCE);
  }

  /** Show the speed, and the reader's state and place. */
  show() {
    const { play, back, forward, earlier, later, progress, speed } = this.#elements;
    speed.textContent = `${decimal(settings.speed ?? usual.speed, 2).replace(/0$/, "")}×`;
    const { text, state, place } = this.#reader;
    const running = state === "playing" || state === "waiting";
    play.dataset.state = state;
    play.ariaLabel = t(running ? "Pause" : state === "paused" ? "Resume" : "Play");
    for (const button of [back, forward, earlier, later]) button.disabled = !text;
    progress.disabled = !text;
    if (!text?.lines.length) {
      this.#elements.left.textContent = "";
      progress.value = 0;
      progress.style.removeProperty("--done");
      return;
    }
    const now = text.sentenceAt(place);
    progress.max = text.sentences.length - 1;
    progress.value = now;
    this.#told(now);
  }

  #told(sentence) {
    const { progress, left } = this.#elements;
    const { text, pump, how } = this.#reader;
    const of = text.sentences.length;
    progress.ariaValueText = t("Sentence {number} of {of}", { number: sentence + 1, of });
    progress.style.setProperty("--done", `${of > 1 ? (100 * sentence) / (of - 1) : 0}%`);
    const characters = text.characters - text.before(text.placeOf(sentence));
    left.textContent = t("{time} left", { time: duration(characters / pump.pace(how)) });
  }
}

export function duration(seconds) {
  if (seconds < 60) return t("{seconds} s", { seconds: Math.max(1, Math.round(seconds / 5) * 5) });
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? t("{minutes} min", { minutes }) : t("{hours} h {minutes} min", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}
