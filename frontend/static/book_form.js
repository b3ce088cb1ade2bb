// The form of a new book: the file, dropped or chosen, and how it is made.

import { made } from "./made.js";
import { titleOf } from "./voices.js";
import { t } from "./words.js";

const KINDS = ".epub,.html,.htm,.xhtml,.md,.markdown,.txt,.pdf,.docx,.odt,.srt,.vtt";
const FORMATS = {
  m4b: t("M4B, one file with chapters"),
  mp3: t("MP3, one file with chapters"),
  opus: t("Opus, one file with chapters"),
  flac: t("FLAC, one file"),
  epub: t("EPUB to read along"),
  zip: t("ZIP, a file for each chapter"),
};

const field = (label, input, hint) => {
  const parts = [made("label", { htmlFor: input.id, textContent: label }), input];
  if (hint) {
    parts.push(made("p", { id: `${input.id}-hint`, className: "hint", textContent: hint }));
    input.setAttribute("aria-describedby", `${input.id}-hint`);
  }
  return made("div", { className: "field" }, ...parts);
};

const options = (table) => Object.entries(table).map(([value, text]) => made("option", { value, textContent: text }));

export class BookForm {
  /** `upload` gets the FormData of each book that is to be made. */
  constructor(api, upload) {
    this.file = made("input", { type: "file", id: "book-file", name: "file", accept: KINDS });
    this.voice = made("select", { id: "book-voice", name: "voice" }, ...options({ "": t("The server's own") }));
    const format = made("select", { id: "book-format", name: "format" }, ...options(FORMATS));
    const speed = made("input", { id: "book-speed", name: "speed", type: "number", min: 0.25, max: 4, step: 0.05, value: 1 });
    const chapters = made("input", { id: "book-chapters", name: "chapters", autocomplete: "off" });
    const between = made("input", { id: "book-between", name: "between", autocomplete: "off" });
    const drop = field(t("Book"), this.file, t("Drop an EPUB, PDF, Word or OpenDocument file, a page, Markdown or plain text here, or choose one."));
    drop.classList.add("books-drop");
    this.element = made(
      "form",
      { className: "books-form", noValidate: true },
      drop,
      made("div", { className: "pair" }, field(t("Voice"), this.voice), field(t("Format"), format)),
      made(
        "div",
        { className: "pair" },
        field(t("Speed"), speed, t("1 is the voice's own pace.")),
        field(t("Chapters"), chapters, t("All, or such as 3-9.")),
        field(t("Hours"), between, t("Any, or such as 01:00-07:00.")),
      ),
      made("p", { className: "actions" }, made("button", { type: "submit", className: "primary", textContent: t("Make the book") })),
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      upload(this.#fields());
    });
    this.#takesDrops(drop);
    this.#listVoices(api);
  }

  /** Forget the file; the other fields stay for the next book. */
  clear() {
    this.file.value = "";
  }

  #fields() {
    const fields = new FormData(this.element);
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
      if (event.dataTransfer.files.length) this.file.files = event.dataTransfer.files;
    });
  }

  async #listVoices(api) {
    try {
      const { voices } = await (await api("v1/audio/voices")).json();
      this.voice.append(...options(Object.fromEntries(voices.map(({ id }) => [id, titleOf(id)]))));
    } catch {
      // The server's own voice is left to choose; the list of jobs says what is wrong.
    }
  }
}
