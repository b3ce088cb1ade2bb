// The server's own figures, looked at once a second while the page is seen.

import { ask } from "./api.js";
import { advice, figures, streams } from "./figures.js";
import { Window, parse } from "./window.js";

const PAUSE = 1000;
/* Milliseconds from an answer to the next question. */

export class Live {
  #elements;
  #onEngine;
  #engine = null; // whose voices are listed; null before the first answer
  #windows = {
    firstAudio: new Window("kokoro_live_time_to_first_audio_seconds"),
    realTime: new Window("kokoro_live_real_time_factor"),
  };
  #timer = 0;
  #asking = null;

  /**
   * @param elements {engine, trouble, figures, streams, advice, all, allBox}
   * @param onEngine called when another engine has taken over, or one has come
   */
  constructor(elements, onEngine) {
    this.#elements = elements;
    this.#onEngine = onEngine;
    document.addEventListener("visibilitychange", () => this.restart());
    elements.allBox.addEventListener("toggle", () => this.restart());
    this.restart();
  }

  /** Look now: something has changed. */
  restart() {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    if (!document.hidden) this.#look();
  }

  async #look() {
    const asking = (this.#asking = new AbortController());
    const { signal } = asking;
    const { trouble } = this.#elements;
    try {
      const answers = await Promise.all([ask("status", { signal }), ask("metrics", { signal })]);
      const [status, metrics] = await Promise.all([answers[0].json(), answers[1].text()]);
      trouble.textContent = status.reason ?? "";
      this.#show(status, parse(metrics));
    } catch (error) {
      if (signal.aborted) return;
      trouble.textContent = error.message;
      this.#elements.figures.replaceChildren();
      this.#elements.streams.hidden = this.#elements.advice.hidden = true;
    }
    this.#timer = setTimeout(() => this.#look(), PAUSE);
  }

  #show(status, samples) {
    for (const window of Object.values(this.#windows)) window.look(samples);
    figures(this.#elements.figures, status, samples, this.#windows);
    streams(this.#elements.streams, status.streams);
    advice(this.#elements.advice, status.recommendations);
    const { engine } = status;
    this.#elements.engine.textContent = engine ? `${engine.name} speaks` : "Nothing speaks yet";
    if (this.#elements.allBox.open) this.#elements.all.textContent = JSON.stringify(status, null, 2);
    const known = this.#engine;
    this.#engine = engine ? `${engine.name} ${engine.model}` : "";
    if (known !== null && known !== this.#engine) this.#onEngine();
  }
}
