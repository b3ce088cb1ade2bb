// Looks at the server again and again while a tab is seen.

import { ask } from "./api.js";

const PAUSE = 1000;
/* Milliseconds from an answer to the next question. */

export class Look {
  #panel;
  #trouble;
  #paths;
  #shown;
  #lost;
  #timer = 0;
  #asking = null;
  #stopped = false;

  /**
   * @param {Element} panel nothing is asked while it is hidden
   * @param {Element} trouble is told what is wrong
   * @param {string[]} paths what is asked, `status` first
   * @param shown is called with the status and the other answers as texts
   * @param lost is called when the server doesn't answer
   */
  constructor(panel, trouble, paths, shown, lost) {
    [this.#panel, this.#trouble, this.#paths, this.#shown, this.#lost] = [panel, trouble, paths, shown, lost];
    document.addEventListener("visibilitychange", () => !this.#stopped && this.restart());
  }

  /** Look no more. */
  stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#asking?.abort();
  }

  /** Look now: something has changed. */
  restart() {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    if (!document.hidden && !this.#panel.hidden) this.#look();
  }

  async #look() {
    const asking = (this.#asking = new AbortController());
    const { signal } = asking;
    try {
      const answers = await Promise.all(this.#paths.map((path) => ask(path, { signal })));
      const [status, ...others] = await Promise.all(answers.map((answer, place) => (place ? answer.text() : answer.json())));
      this.#trouble.textContent = status.reason ?? "";
      this.#shown(status, ...others);
    } catch (error) {
      if (signal.aborted) return;
      this.#trouble.textContent = error.message;
      this.#lost();
    }
    if (!this.#panel.hidden) this.#timer = setTimeout(() => this.#look(), PAUSE);
  }
}
