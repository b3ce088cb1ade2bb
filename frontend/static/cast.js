// The voices of a book: its narrator's, that of all quotations, and those of its speakers. Each can be heard.

import { made } from "./made.js";
import { hearable } from "./sample.js";
import { languageOf, titleOf } from "./voices.js";
import { t } from "./words.js";

export class Cast {
  #voices = [];
  #usual = "";
  #failed;
  #quotes;
  #rows = made("ul", { className: "books-cast", ariaLabel: t("Speakers") });

  /** `failed` as of `hearable`. */
  constructor(failed) {
    this.#failed = failed;
    this.narrator = this.#choice(t("Voice"), t("The server's own"), { id: "book-voice", name: "voice" });
    this.#quotes = this.#choice(t("Quotations"), t("The narrator's"), { id: "book-quotes" });
    const add = made("button", { type: "button", textContent: t("Add a speaker") });
    add.addEventListener("click", () => this.#add());
    const hint = made("p", { className: "hint", textContent: t("A speaker is found by the name beside a quotation (“said Anna”), or before the words, as in a play.") });
    this.element = made("details", {}, made("summary", { textContent: t("Cast") }), this.#quotes, this.#rows, hint, add);
  }

  /** What can be chosen. @param answer of `v1/audio/voices` */
  list({ voices, default_voice: usual }) {
    this.#voices = voices;
    this.#usual = usual;
    for (const select of [this.narrator, this.#quotes].map(choiceIn)) this.#fill(select);
  }

  /** Quotations and speakers as the field `cast` takes them: TOML, whose strings are JSON's. */
  get toml() {
    const quotes = choiceIn(this.#quotes).value;
    const named = [...this.#rows.children].map((row) => [row.querySelector("input").value.trim(), choiceIn(row).value]);
    const speakers = [...new Map(named.filter(([name, voice]) => name && voice))].map((pair) => pair.map((each) => JSON.stringify(each)).join(" = "));
    return [quotes && `quotes = ${JSON.stringify(quotes)}`, speakers.length && "[speakers]", ...speakers].filter(Boolean).join("\n");
  }

  #add() {
    const name = made("input", { ariaLabel: t("Name of the speaker"), placeholder: t("Name of the speaker"), autocomplete: "off" });
    const remove = made("button", { type: "button", className: "icon", textContent: "×" });
    const say = () => (remove.ariaLabel = t("Delete {title}", { title: name.value || t("Speakers") }));
    name.addEventListener("input", say);
    say();
    remove.addEventListener("click", () => {
      row.remove();
      this.element.querySelector(":scope > button").focus();
    });
    const row = made("li", {}, name, this.#choice("", t("The narrator's"), { ariaLabel: t("Voice") }), remove);
    this.#fill(choiceIn(row));
    this.#rows.append(row);
    name.focus();
  }

  /** A list of the voices with a button that lets the chosen one be heard. */
  #choice(label, none, properties) {
    const select = made("select", properties, new Option(none, ""));
    const button = made("button", { type: "button", className: "hear icon", disabled: true });
    const voice = () => select.value || (select.name ? this.#usual : "");
    const show = () => {
      button.disabled = !voice();
      button.ariaLabel = t("Hear {name}", { name: voice() ? titleOf(voice()) : none });
    };
    show();
    select.addEventListener("change", show);
    hearable(button, () => this.#voices.find(({ id }) => id === voice()), this.#failed);
    const pair = made("div", { className: "books-voice" }, select, button);
    return label ? made("div", { className: "field" }, made("label", { htmlFor: select.id, textContent: label }), pair) : pair;
  }

  #fill(select) {
    for (const [label, voices] of Map.groupBy(this.#voices, languageOf)) {
      select.append(made("optgroup", { label }, ...voices.map(({ id }) => new Option(titleOf(id), id))));
    }
    select.dispatchEvent(new Event("change")); // what is heard has a name now
  }
}

const choiceIn = (element) => element.querySelector("select");
