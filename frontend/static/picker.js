// The dialog in which a voice is chosen: each can be heard, and blended with others.

import { sample } from "./sample.js";
import { MOST, titleOf } from "./voices.js";

export class Picker {
  #dialog;
  #voices;
  #list;
  #blend;
  #error;
  #onSample;
  #listed = null; // the voices that are shown
  #hearing = null; // the AbortController of the sample that is heard

  /**
   * @param {HTMLDialogElement} dialog with `.voices`, `.blend` and `.error` in it
   * @param {Voices} voices
   * @param onSample called with a promise of the end of each sample that is heard
   */
  constructor(dialog, voices, onSample) {
    this.#dialog = dialog;
    this.#voices = voices;
    this.#list = dialog.querySelector(".voices");
    this.#blend = dialog.querySelector(".blend");
    this.#error = dialog.querySelector(".error");
    this.#onSample = onSample;
    voices.addEventListener("change", () => this.#show());
    dialog.addEventListener("close", () => this.#hearing?.abort());
    this.#list.addEventListener("click", ({ target }) => this.#act(target.closest("button")));
    this.#blend.addEventListener("click", ({ target }) => this.#act(target.closest("button")));
    this.#blend.addEventListener("input", ({ target }) => {
      if (target.validity.valid && target.value) voices.weigh(target.dataset.id, Number(target.value));
    });
  }

  open() {
    this.#show();
    this.#dialog.showModal();
    this.#list.querySelector("[aria-pressed=true]")?.scrollIntoView({ block: "center" });
  }

  #act(button) {
    const id = button?.dataset.id;
    if (!id) return;
    if (button.classList.contains("hear")) this.#hear(id, button);
    else if (button.classList.contains("add")) this.#voices.blend(id);
    else this.#voices.choose(id);
  }

  async #hear(id, button) {
    const again = button.classList.contains("heard");
    this.#hearing?.abort();
    if (again) return;
    const { signal } = (this.#hearing = new AbortController());
    this.#error.textContent = "";
    button.classList.add("heard");
    const said = sample(this.#voices.all.find((voice) => voice.id === id), signal);
    this.#onSample(said);
    try {
      await said;
    } catch (error) {
      if (!signal.aborted) this.#error.textContent = error.message;
    } finally {
      this.#list.querySelector(`.hear[data-id="${CSS.escape(id)}"]`)?.classList.remove("heard");
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
      add.ariaLabel = add.title = `${has && chosen.size > 1 ? "Take out" : "Blend in"} ${titleOf(card.dataset.id)}`;
      add.disabled = has ? chosen.size === 1 : chosen.size === MOST;
    }
    this.#showBlend();
  }

  #fill() {
    this.#listed = this.#voices.all;
    this.#list.replaceChildren(
      ...this.#voices.groups.flatMap(([language, voices]) => {
        const cards = make("div", { className: "cards" });
        cards.append(...voices.map(card));
        return [make("h3", { textContent: language }), cards];
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
  }
}

function card({ id, gender }) {
  const box = make("div", { className: "voice" });
  box.dataset.id = id;
  const hear = make("button", { type: "button", className: "hear icon", ariaLabel: `Hear ${titleOf(id)}` });
  const choose = make("button", { type: "button", className: "choose", textContent: titleOf(id), title: id });
  if (gender) choose.append(make("small", { textContent: gender }));
  const add = make("button", { type: "button", className: "add icon" });
  for (const button of [hear, choose, add]) button.dataset.id = id;
  box.append(hear, choose, add);
  return box;
}

function weight({ id, weight: value }) {
  const label = make("label", { textContent: `${titleOf(id)} ` });
  const input = make("input", { type: "number", min: "0.1", step: "0.1", value, ariaLabel: `Weight of ${titleOf(id)}` });
  input.dataset.id = id;
  label.append(input);
  return label;
}

const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
