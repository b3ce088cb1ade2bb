// Chooses a voice, or several with weights: what the API writes as af_heart(2)+af_bella.

import { ask } from "./api.js";

const MOST = 8; // that the API blends
const BEST = "af_heart";

const LANGUAGES = new Intl.DisplayNames(["en"], { type: "language" });

export class Voices {
  #rows;
  #blend;
  #spec;
  #voices = []; // as GET /v1/audio/voices lists them

  /** `rows` gets a row a voice; `blend` is the button for one more; `spec` shows the blend as the API writes it. */
  constructor(rows, blend, spec) {
    this.#rows = rows;
    this.#blend = blend;
    this.#spec = spec;
    rows.addEventListener("input", () => this.#arrange());
    blend.addEventListener("click", () => this.#add()?.focus());
  }

  /** List the voices of the engine that speaks now; what was chosen stays chosen where it still exists. */
  async load() {
    this.#voices = (await (await ask("v1/audio/voices")).json()).voices;
    const chosen = this.#selects.map((select) => select.value);
    this.#selects.forEach((select, place) => this.#fill(select, chosen[place]));
    if (!chosen.length) this.#add();
    this.#arrange();
  }

  /** The voice for a request; undefined, which is the server's default, while none are known. */
  get spec() {
    const terms = [...this.#rows.children].map((row) => {
      const [select, weight] = row.querySelectorAll("select, input");
      return this.#selects.length === 1 || weight.value === "1" ? select.value : `${select.value}(${weight.value})`;
    });
    return terms.join("+") || undefined;
  }

  focus() {
    this.#selects[0]?.focus();
  }

  get #selects() {
    return [...this.#rows.querySelectorAll("select")];
  }

  #add() {
    if (!this.#voices.length || this.#selects.length === MOST) return undefined;
    const select = document.createElement("select");
    const weight = Object.assign(document.createElement("input"), { type: "number", min: "0.1", step: "0.1", value: "1" });
    const remove = Object.assign(document.createElement("button"), { type: "button", textContent: "×" });
    const row = document.createElement("div");
    row.className = "voice";
    row.append(select, weight, remove);
    const used = new Set(this.#selects.map((other) => other.value));
    const free = this.#voices.find((voice) => !used.has(voice.id)) ?? this.#voices[0];
    this.#fill(select, used.size ? free.id : BEST);
    remove.addEventListener("click", () => {
      row.remove();
      this.#arrange();
      this.#blend.focus();
    });
    this.#rows.append(row);
    this.#arrange();
    return select;
  }

  #fill(select, chosen) {
    const groups = Map.groupBy(this.#voices, ({ language, gender }) =>
      [LANGUAGES.of(language), gender].filter(Boolean).join(", "),
    );
    select.replaceChildren(
      ...[...groups].map(([label, voices]) => {
        const group = Object.assign(document.createElement("optgroup"), { label });
        group.append(...voices.map(({ id, name }) => new Option(name, id, false, id === chosen)));
        return group;
      }),
    );
  }

  #arrange() {
    const blended = this.#selects.length > 1;
    [...this.#rows.children].forEach((row, place) => {
      const [select, weight, remove] = row.children;
      row.classList.toggle("blended", blended);
      weight.hidden = remove.hidden = !blended;
      select.setAttribute("aria-label", blended ? `Voice ${place + 1}` : "Voice");
      weight.setAttribute("aria-label", `Weight of voice ${place + 1}, ${select.value}`);
      remove.setAttribute("aria-label", `Remove voice ${place + 1}, ${select.value}`);
    });
    this.#blend.hidden = this.#selects.length === MOST;
    this.#spec.hidden = !blended;
    this.#spec.textContent = this.spec ?? "";
  }
}
