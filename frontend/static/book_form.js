// The form of a new book: the file, dropped or chosen, and how it is made.

import { Cast } from "./cast.js";
import { made } from "./made.js";
import { duration } from "./transport.js";
import { t } from "./words.js";

const field = (label, input, hint) => {
  const parts = [made("label", { htmlFor: input.id, textContent: label }), input];
  if (hint) {
    parts.push(made("p", { id: `${input.id}-hint`, className: "hint", textContent: hint }));
    input.setAttribute("aria-describedby", `${input.id}-hint`);
  }
  return made("div", { className: "field" }, ...parts);
};

const PACE = 14.5; // characters that a voice says in a second

export class BookForm {
  #api;
  #cast;
  #chapters = made("input", { id: "book-chapters", name: "chapters", autocomplete: "off" });
  #list = made("ul", { className: "books-chapters", ariaLabel: t("Chapters") });

  /** `upload` gets the FormData of each book that is to be made; `failed` as of `hearable`. */
  constructor(api, upload, failed) {
    this.#cast = new Cast(failed);
    this.file = made("input", { type: "file", id: "book-file", name: "file", accept: document.getElementById("file").accept });
    const format = made("select", { id: "book-format", name: "format" });
    const speed = made("input", { id: "book-speed", name: "speed", type: "number", min: 0.25, max: 5, step: 0.05 });
    const between = made("input", { id: "book-between", name: "between", autocomplete: "off" });
    const drop = field(t("Book"), this.file, t("Drop an EPUB, PDF, Word or OpenDocument file, a page, Markdown or plain text here, or choose one."));
    drop.classList.add("books-drop");
    this.element = made(
      "form",
      { className: "books-form", noValidate: true },
      drop,
      made("div", { className: "pair" }, this.#cast.narrator, field(t("Format"), format)),
      made(
        "div",
        { className: "pair" },
        field(t("Speed"), speed, t("1 is the voice's own pace.")),
        field(t("Chapters"), this.#chapters, t("All, or such as 3-9.")),
        field(t("Hours"), between, t("Any, or such as 01:00-07:00.")),
      ),
      this.#list,
      this.#cast.element,
      made("p", { className: "actions" }, made("button", { type: "submit", className: "primary", textContent: t("Make the book") })),
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      upload(this.#fields());
    });
    this.file.addEventListener("change", () => this.#listChapters());
    speed.addEventListener("change", () => this.#sayTimes());
    this.#list.addEventListener("change", () => this.#write());
    this.#api = api;
    this.#takesDrops(drop);
    this.#listVoices(api);
    this.#listFormats(api, format);
  }

  /** Forget the file; the other fields stay for the next book. */
  clear() {
    this.file.value = "";
    this.#listChapters();
  }

  #fields() {
    const fields = new FormData(this.element);
    fields.set("cast", this.#cast.toml);
    if (!this.file.files.length) fields.delete("file"); // the server says what is missing
    return fields;
  }

  #takesDrops(zone) {
    const over = (event) => {
      event.preventDefault();
      zone.classList.toggle("over", event.type === "dragover");
    };
    zone.addEventListener("dragover", over);
    zone.addEventListener("dragleave", over);
    zone.addEventListener("drop", (event) => {
      over(event);
      if (!event.dataTransfer.files.length) return;
      this.file.files = event.dataTransfer.files;
      this.#listChapters();
    });
  }

  /** The chapters of the file, each with its time: those that are ticked are made. Without a list their numbers are typed. */
  async #listChapters() {
    const file = this.file.files[0];
    this.#list.replaceChildren();
    this.#chapters.value = "";
    if (!file) return;
    let paragraphs;
    try {
      ({ paragraphs } = await (await this.#api(`v1/documents?${new URLSearchParams({ name: file.name })}`, { body: file, patient: true })).json());
    } catch {
      return; // the list of jobs says what is wrong with it
    }
    if (file !== this.file.files[0]) return;
    const found = [];
    for (const { kind, text } of paragraphs) {
      if (kind === "chapter") found.push({ title: text, characters: 0 });
      if (found.length) found.at(-1).characters += text.length;
    }
    this.#list.append(...found.map(({ title, characters }) => {
      const time = made("span", { className: "hint" });
      time.dataset.characters = characters;
      return made("li", {}, made("label", {}, made("input", { type: "checkbox", checked: true }), ` ${title} `, time));
    }));
    this.#sayTimes();
  }

  #sayTimes() {
    const { value, placeholder } = this.element.elements.speed;
    for (const time of this.#list.querySelectorAll(".hint")) time.textContent = duration(time.dataset.characters / PACE / (Number(value || placeholder) || 1));
  }

  #write() {
    const boxes = [...this.#list.querySelectorAll("input")];
    const numbers = boxes.flatMap(({ checked }, place) => (checked ? [place + 1] : []));
    this.#chapters.value = numbers.length === boxes.length ? "" : numbers.join(",") || "0"; // the server says that 0 is none
  }

  async #listFormats(api, field) {
    try {
      const { book_formats: formats } = await (await api("v1/audio/formats")).json();
      field.replaceChildren(...formats.map(({ id, title }) => new Option(t(title), id)));
    } catch {
      // The server's usual format is left to choose, as its usual voice.
    }
  }

  async #listVoices(api) {
    try {
      const known = await (await api("v1/audio/voices")).json();
      this.#cast.list(known);
      this.element.elements.speed.placeholder = known.default_speed; // the server's, where none is entered
    } catch {
      // The server's own voice is left to choose; the list of jobs says what is wrong.
    }
  }
}
