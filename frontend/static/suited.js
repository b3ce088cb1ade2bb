// The voice for a text in another language than the chosen voice's: it reads where no voice was chosen, else it is
// offered. Both are said beside the text, and one click takes either back.

import { languageOf, titleOf } from "./voices.js";
import { t } from "./words.js";

export class Suited {
  #element;
  #voices;
  #language = ""; // of the text, as the server finds it

  /** @param {Element} element with a status and a button in it @param {Voices} voices */
  constructor(element, voices) {
    this.#element = element;
    this.#voices = voices;
    element.querySelector("button").addEventListener("click", () => this.#turn());
    voices.addEventListener("change", () => this.#draw());
  }

  /** The text that is opened is in a language; "": it isn't known yet. @returns {boolean} whether another voice reads it now */
  found(language) {
    this.#language = language;
    const best = this.#voices.bestFor(language);
    const changes = Boolean(best && !this.#voices.kept);
    if (changes || this.#voices.suited) this.#voices.suit(changes ? best.id : "");
    else this.#draw();
    return changes;
  }

  #turn() {
    const { suited, own, kept } = this.#voices;
    if (!suited) this.#voices.suit(this.#voices.bestFor(this.#language).id);
    else if (kept) this.#voices.suit("");
    else this.#voices.choose(own[0].id); // from now on it is asked for
  }

  #draw() {
    const best = this.#voices.bestFor(this.#language);
    this.#element.hidden = !best;
    if (!best) return;
    const { suited, own } = this.#voices;
    const language = languageOf({ language: best.language.split("-")[0] });
    const said = suited ? t("{language}: {name} reads this text.", { language, name: titleOf(suited) }) : t("This text is in {language}.", { language });
    this.#element.querySelector("[role=status]").textContent = said;
    const back = () => t("Back to {name}", { name: own.map(({ id }) => titleOf(id)).join(" + ") });
    this.#element.querySelector("button").textContent = suited ? back() : t("Have {name} read it", { name: titleOf(best.id) });
  }
}
