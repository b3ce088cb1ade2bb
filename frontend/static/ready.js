// Whether the server can speak, and with which engine: one quiet word at the page's head.

import { t } from "./words.js";

const PAUSE = { ready: 15_000, other: 1_500 }; // milliseconds from an answer to the next question

export class Ready {
  #element;
  #onEngine;
  #engine = null; // null before the first answer
  #timer = 0;
  #lost = false;

  /**
   * @param {Element} element gets `data-state`, and the word
   * @param onEngine called when an engine has come, also in another's place
   *   (the document is told `kokoro-live:back` when it can speak again)
   */
  constructor(element, onEngine) {
    this.#element = element;
    this.#onEngine = onEngine;
    document.addEventListener("visibilitychange", () => this.look());
    document.addEventListener("kokoro-live:lost", () => {
      this.#lost = true;
      this.look();
    });
    this.look();
  }

  /** Look now: something has changed. */
  async look() {
    clearTimeout(this.#timer);
    if (document.hidden) return;
    let found;
    try {
      found = await (await fetch(new URL("ready", document.baseURI), { cache: "no-store" })).json();
    } catch {
      // No server, or something else in its place.
      found = { ready: false, reason: "No connection" };
    }
    clearTimeout(this.#timer);
    this.#show(found);
    this.#timer = setTimeout(() => this.look(), found.ready ? PAUSE.ready : PAUSE.other);
  }

  #show({ ready, engine, model, reason }) {
    const element = this.#element;
    const word = ready ? NAMES[engine] ?? engine : (reason === "No connection" ? t("No connection") : t("Getting ready"));
    if (element.textContent !== word) element.textContent = word;
    element.title = ready ? `${engine}, ${model}` : (reason ?? "");
    element.dataset.state = ready ? "ready" : "waiting";
    const known = this.#engine;
    this.#engine = ready ? `${engine} ${model}` : "";
    if (ready && this.#lost) document.dispatchEvent(new Event("kokoro-live:back"));
    this.#lost = !ready;
    if (known !== null && this.#engine && known !== this.#engine) this.#onEngine();
  }
}

const NAMES = { kokoro: "Kokoro", "espeak-ng": "espeak-ng" };
