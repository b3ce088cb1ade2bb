// The server's own figures, looked at once a second while their tab is seen.

import { ask } from "./api.js";
import { advice, figures, streams } from "./figures.js";
import { Window, parse } from "./window.js";

const PAUSE = 1000;
/* Milliseconds from an answer to the next question. */

export class Live {
  #elements;
  #windows = {
    firstAudio: new Window("kokoro_live_time_to_first_audio_seconds"),
    realTime: new Window("kokoro_live_real_time_factor"),
  };
  #timer = 0;
  #asking = null;

  /** @param elements {panel, trouble, figures, streams, advice, all, allBox} */
  constructor(elements) {
    this.#elements = elements;
    document.addEventListener("visibilitychange", () => this.restart());
    elements.allBox.addEventListener("toggle", () => this.restart());
  }

  /** Look now: something has changed. */
  restart() {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    if (!document.hidden && !this.#elements.panel.hidden) this.#look();
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
    if (this.#elements.allBox.open) this.#elements.all.textContent = JSON.stringify(status, null, 2);
  }
}
