// The dialog in which a voice is chosen: each can be heard, and blended with others.

import { hush } from "./sample.js";
import { made } from "./made.js";
import { card, weight } from "./voice_cards.js";
import { MOST, titleOf } from "./voices.js";
import { t } from "./words.js";

export class Picker {
  #dialog;
  #voices;
  #list;
  #blend;
  #error;
  #search;
  #listed = null; // the voices that are shown

  /**
   * @param {HTMLDialogElement} dialog with `.voices`, `.blend` and `.error` in it
   * @param {Voices} voices
   */
  constructor(dialog, voices) {
    this.#dialog = dialog;
    this.#voices = voices;
    this.#list = dialog.querySelector(".voices");
    this.#blend = dialog.querySelector(".blend");
    this.#error = dialog.querySelector(".error");
    voices.addEventListener("change", () => this.#show());
    dialog.addEventListener("close", hush);
    this.#list.addEventListener("click", ({ target }) => this.#act(target.closest("button")));
    this.#search = dialog.querySelector("[type=search]");
    this.#search.addEventListener("input", () => this.#filter());
    this.#search.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.#search.value) return;
      event.preventDefault(); // WebKit would keep the key in the field
      dialog.close();
    });
    this.#list.addEventListener("keydown", (event) => {
      if (event.key !== "h" && event.key !== "H") return;
      event.target.closest(".voice")?.querySelector(".hear").click();
    });
    this.#blend.addEventListener("click", ({ target }) => this.#act(target.closest("button")));
    this.#blend.addEventListener("input", ({ target }) => {
      if (target.validity.valid && target.value) voices.weigh(target.dataset.id, Number(target.value));
    });
  }

  open() {
    this.#search.value = "";
    this.#show();
    this.#filter();
    this.#dialog.showModal();
    this.#search.focus();
    this.#list.querySelector("[aria-pressed=true]")?.scrollIntoView({ block: "center" });
  }

  #act(button) {
    const id = button?.dataset.id;
    if (!id || button.classList.contains("hear")) return;
    if (button.classList.contains("add")) this.#voices.blend(id);
    else if (button.classList.contains("like")) this.#like(id);
    else this.#voices.choose(id);
  }

  #like(id) {
    this.#voices.like(id);
    this.#filter();
    this.#list.querySelector(`.like[data-id="${CSS.escape(id)}"]`).focus();
  }

  /** Show the voices that are searched for. */
  #filter() {
    const wanted = this.#search.value.trim().toLowerCase();
    for (const card of this.#list.querySelectorAll(".voice")) card.hidden = !card.dataset.words.includes(wanted);
    for (const group of this.#list.querySelectorAll(".cards")) {
      group.hidden = group.previousElementSibling.hidden = !group.querySelector(".voice:not([hidden])");
    }
  }

  #show() {
    const chosen = new Map(this.#voices.chosen.map(({ id, weight }) => [id, weight]));
    if (this.#listed !== this.#voices.all) this.#fill();
    for (const card of this.#list.querySelectorAll(".voice")) {
      const has = chosen.has(card.dataset.id);
      card.querySelector(".choose").ariaPressed = String(has);
      const add = card.querySelector(".add");
      add.textContent = has && chosen.size > 1 ? "−" : "+";
      add.ariaLabel = add.title = t(has && chosen.size > 1 ? "Take out {name}" : "Blend in {name}", { name: titleOf(card.dataset.id) });
      add.disabled = has ? chosen.size === 1 : chosen.size === MOST;
    }
    this.#showBlend();
  }

  #fill() {
    const failed = (error) => (this.#error.textContent = error?.message ?? "");
    this.#listed = this.#voices.all;
    this.#list.replaceChildren(
      ...this.#voices.groups.flatMap(([language, voices]) => {
        return [made("h3", { textContent: language }), made("div", { className: "cards" }, ...voices.map((voice) => card(voice, failed)))];
      }),
    );
  }

  #showBlend() {
    const { chosen, spec } = this.#voices;
    this.#blend.hidden = chosen.length < 2;
    const rows = [...this.#blend.querySelectorAll("input")];
    // A field that is being typed into stays.
    if (rows.map((row) => row.dataset.id).join() !== chosen.map(({ id }) => id).join()) {
      this.#blend.querySelector(".weights").replaceChildren(...chosen.map(weight));
    }
    this.#blend.querySelector("output").textContent = spec ?? "";
    const total = chosen.reduce((sum, { weight: part }) => sum + part, 0);
    for (const share of this.#blend.querySelectorAll("small")) {
      share.textContent = `${Math.round((100 * (chosen.find(({ id }) => id === share.dataset.id)?.weight ?? 0)) / total)}%`;
    }
  }
}
