// The text on the page: the sentence and the word that sound are marked, and a click says from where to read.

import { selectedIn } from "./marks.js";

const TAGS = { chapter: "h3", h: "h4", li: "p", quote: "blockquote", code: "p", p: "p" };

export class Pane {
  #pane;
  #text = null;
  #shown = 0; // paragraphs on the page
  #sentences = []; // the element of each
  #numbers = new WeakMap(); // and the other way round
  #current = null;
  #marked = null; // the sentence in which a word is marked
  #flags = new Set(); // places with a bookmark
  clicked = null; // the place of the word that was clicked last

  /**
   * @param {Element} pane
   * @param onPlace called with the place of a word that was clicked
   */
  constructor(pane, onPlace) {
    this.#pane = pane;
    pane.addEventListener("click", (event) => {
      const place = getSelection().isCollapsed ? this.#placeAt(event) : null;
      if (place) onPlace((this.clicked = place));
    });
  }

  /** Show a text, or what was added to it. */
  show(text) {
    if (text !== this.#text) {
      this.#pane.replaceChildren();
      this.#text = text;
      this.#sentences = [];
      this.#shown = 0;
      this.#current = this.#marked = this.clicked = null;
    }
    const fresh = text.paragraphs.slice(this.#shown);
    this.#shown = text.paragraphs.length;
    this.#pane.append(...fresh.map((paragraph) => this.#paragraph(paragraph)));
  }

  /** Show which sentences have a bookmark. @param {{place: {line: number, offset: number}}[]} marks */
  flag(marks) {
    this.#flags = new Set(marks.map(({ place }) => `${place.line} ${place.offset}`));
    this.#sentences.forEach((span, number) => this.#flag(span, number));
  }

  #flag(span, number) {
    const { line, from } = this.#text.sentences[number];
    span.classList.toggle("flagged", this.#flags.has(`${line} ${from}`));
  }

  #paragraph({ kind, lines: [first, after] }) {
    const element = document.createElement(TAGS[kind] ?? "p");
    element.className = kind;
    element.dir = "auto";
    for (let line = first; line < after; line += 1) {
      const row = document.createElement("span");
      row.className = "line";
      while (this.#text.sentences[this.#sentences.length]?.line === line) row.append(...this.#sentence(line));
      element.append(row);
    }
    return element;
  }

  #sentence(line) {
    const number = this.#sentences.length;
    const { from, to } = this.#text.sentences[number];
    const span = document.createElement("span");
    const whole = this.#text.lines[line].text.slice(from, to);
    span.className = "sentence";
    span.textContent = whole.trimEnd();
    this.#sentences.push(span);
    this.#numbers.set(span, number);
    this.#flag(span, number);
    return [span, whole.slice(span.textContent.length)];
  }

  /** Mark the sentence at a place, and in it the word up to `to`. Returns the sentence's element. */
  mark({ line, offset, to, word }) {
    const number = this.#text.sentenceAt({ line, offset });
    const sentence = this.#sentences[number];
    this.#clear(sentence);
    sentence.classList.add("current");
    this.#current = sentence;
    if (word) {
      const { from } = this.#text.sentences[number];
      const whole = sentence.textContent;
      const now = document.createElement("span");
      now.className = "word";
      now.textContent = whole.slice(offset - from, to - from);
      sentence.replaceChildren(whole.slice(0, offset - from), now, whole.slice(to - from));
      this.#marked = sentence;
    }
    return sentence;
  }

  /** The number of the sentence in which the selection begins; undefined without one. */
  get selected() {
    return this.#numbers.get(selectedIn(this.#pane));
  }

  /** Mark nothing. */
  clear() {
    this.#clear(null);
  }

  #clear(next) {
    if (this.#marked) this.#marked.textContent = this.#marked.textContent;
    this.#marked = null;
    if (this.#current !== next) this.#current?.classList.remove("current");
  }

  #placeAt({ target, clientX, clientY }) {
    const sentence = target.closest(".sentence");
    if (!sentence) return null;
    const { line, from } = this.#text.sentences[this.#numbers.get(sentence)];
    const { text } = this.#text.lines[line];
    const at = from + characterAt(sentence, clientX, clientY);
    const start = text.slice(0, at).search(/\S+$/);
    return { line, offset: Math.max(from, start < 0 ? at : start) };
  }
}

/** The character of an element's text that lies under a point. */
function characterAt(element, x, y) {
  const found = document.caretPositionFromPoint?.(x, y);
  const range = found ? null : document.caretRangeFromPoint?.(x, y);
  const [node, offset] = found ? [found.offsetNode, found.offset] : [range?.startContainer, range?.startOffset];
  if (!node || !element.contains(node)) return 0;
  const before = document.createRange();
  before.setStart(element, 0);
  before.setEnd(node, offset);
  return before.toString().length;
}
