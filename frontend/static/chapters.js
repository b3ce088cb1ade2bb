// The chapters of the text that is read, beside it: where reading is, and a click goes to another.

const FEWEST = 2; // headings that are worth a list

export class Chapters {
  #nav;
  #list;
  #reader;
  #text = null;
  #kind = "h";
  #buttons = [];
  #now = -1;

  /** @param {Element} nav with a list in it @param {Reader} reader */
  constructor(nav, reader) {
    this.#nav = nav;
    this.#list = nav.querySelector("ol");
    this.#reader = reader;
    const wide = matchMedia("(min-width: 80rem)");
    const open = () => (nav.querySelector("details").open = wide.matches);
    wide.addEventListener("change", open);
    open();
    reader.addEventListener("place", ({ detail }) => this.#mark(detail.line));
  }

  /** Show the chapters of a text that is opened. */
  show({ paragraphs, text }) {
    this.#text = text;
    this.#kind = paragraphs.some(({ kind }) => kind === "chapter") ? "chapter" : "h";
    const titles = paragraphs.filter(({ kind }) => kind === this.#kind);
    this.#now = -1;
    this.#nav.hidden = titles.length < FEWEST;
    this.#buttons = titles.map(({ text: title }, number) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: title.replace(/\s+/g, " "), dir: "auto" });
      button.addEventListener("click", () => this.#go(number));
      return button;
    });
    this.#list.replaceChildren(...this.#buttons.map((button) => {
      const item = document.createElement("li");
      item.append(button);
      return item;
    }));
  }

  /** The line after the chapter of a line; undefined if it is the last, or nothing is divided into chapters. */
  endOf(line) {
    return this.#starts.find((start) => start > line);
  }

  /* Lines with which those chapters begin that are there by now. */
  get #starts() {
    return (this.#text?.paragraphs ?? []).filter(({ kind }) => kind === this.#kind).map(({ lines: [first] }) => first);
  }

  async #go(number) {
    const text = this.#text;
    while (this.#starts.length <= number && !text.whole) await text.has(text.lines.length);
    const line = this.#starts[number];
    if (text !== this.#text || line === undefined) return;
    const place = { line, offset: 0 };
    if (this.#reader.state === "idle") this.#reader.play(place);
    else this.#reader.seek(place);
  }

  #mark(line) {
    const now = this.#starts.findLastIndex((start) => start <= line);
    if (now === this.#now) return;
    this.#buttons[this.#now]?.removeAttribute("aria-current");
    this.#now = now;
    const button = this.#buttons[now];
    button?.setAttribute("aria-current", "true");
    if (this.#nav.querySelector("details").open) button?.scrollIntoView({ block: "nearest" });
  }
}
