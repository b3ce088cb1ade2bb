// The text with its words lit up as they sound.

const NEARBY = 300;
/* Characters after the last word within which the next one is looked for: one that was written otherwise, and isn't
   found, must not take its namesake from the text's other end. */

export class Reading {
  #pane;
  #rest = null; // the text node behind the last word
  #words = []; // {span, start}, in order
  #lit = 0; // words that have begun

  constructor(pane) {
    this.#pane = pane;
  }

  begin(text) {
    this.#rest = document.createTextNode(text);
    this.#pane.replaceChildren(this.#rest);
    this.#pane.hidden = false;
    this.#pane.scrollTop = 0;
    this.#words = [];
    this.#lit = 0;
  }

  /** Words as the user wrote them, in the text's order, with the second at which each begins. */
  add(words) {
    for (const { word, start } of words) {
      const place = this.#rest.data.slice(0, NEARBY + word.length).indexOf(word);
      if (place < 0) continue;
      const found = place ? this.#rest.splitText(place) : this.#rest;
      this.#rest = found.splitText(word.length);
      const span = document.createElement("span");
      found.replaceWith(span);
      span.append(found);
      this.#words.push({ span, start });
    }
  }

  /** That second of the speech sounds. */
  light(second) {
    const before = this.#lit;
    while (this.#lit < this.#words.length && this.#words[this.#lit].start <= second) {
      if (this.#lit) this.#words[this.#lit - 1].span.className = "spoken";
      this.#words[this.#lit].span.className = "now";
      this.#lit += 1;
    }
    if (this.#lit > before) this.#show(this.#words[this.#lit - 1].span);
  }

  /** All has been heard. */
  end() {
    if (this.#lit) this.#words[this.#lit - 1].span.className = "spoken";
  }

  #show(span) {
    const pane = this.#pane;
    const top = span.offsetTop - pane.offsetTop;
    if (top < pane.scrollTop || top + 2 * span.offsetHeight > pane.scrollTop + pane.clientHeight) {
      pane.scrollTop = top - pane.clientHeight / 3;
    }
  }
}
