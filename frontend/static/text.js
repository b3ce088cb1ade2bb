// A text as it is read: paragraphs, their lines, and in each line its sentences, as the server divides them.
//
// A place in it is {line, offset}: a line's number and a character in it.

import { ask } from "./api.js";

const FIRST = 8_000;
const MOST = 90_000;
/* Characters that are divided with one request: few at first, so that the beginning of a book is there at once. */

export const TITLE = 60; // characters, at most

export class Text {
  /** {text, paragraph, last}: `last` in its paragraph. */
  lines = [];
  /** {line, from, to}, in order. */
  sentences = [];
  /** {kind, lines: [number of the first, number after the last]} */
  paragraphs = [];
  characters = 0;
  whole = false; // nothing is added any more
  #waiting = [];
  #before = []; // characters before each line
  #first = []; // number of each line's first sentence

  /** Add a paragraph, as lines of sentences that joined are the line. */
  add(kind, lines) {
    if (!lines.length) return;
    const first = this.lines.length;
    lines.forEach((parts, place) => {
      const line = this.lines.length;
      this.#before.push(this.characters);
      this.#first.push(this.sentences.length);
      let from = 0;
      for (const part of parts) {
        this.sentences.push({ line, from, to: from + part.length });
        from += part.length;
      }
      this.lines.push({ text: parts.join(""), paragraph: this.paragraphs.length, last: place === lines.length - 1 });
      this.characters += from;
    });
    this.paragraphs.push({ kind, lines: [first, this.lines.length] });
  }

  /** Whether there is a line with that number, once that is known. */
  async has(line) {
    while (line >= this.lines.length && !this.whole) await new Promise((resolve) => this.#waiting.push(resolve));
    return line < this.lines.length;
  }

  /** Tell those who wait for more that there is some, or that there will be none. */
  grew(whole = false) {
    this.whole = whole;
    for (const go of this.#waiting.splice(0)) go();
  }

  /** The number of the sentence at a place. */
  sentenceAt({ line, offset }) {
    let number = this.#first[line];
    while (this.sentences[number].to <= offset && this.sentences[number + 1]?.line === line) number += 1;
    return number;
  }

  /** Where a sentence begins. */
  placeOf(number) {
    const { line, from } = this.sentences[number];
    return { line, offset: from };
  }

  /** Where a sentence begins, and what it says. */
  told(number) {
    const { line, from, to } = this.sentences[number];
    return { place: this.placeOf(number), words: this.lines[line].text.slice(from, to).trim() };
  }

  /** Characters of the text before a place. */
  before({ line, offset }) {
    return this.#before[line] + offset;
  }

  /** The beginning of the word before (-1) or after (1) a place, or null. */
  wordFrom({ line, offset }, step) {
    const starts = [...this.lines[line].text.matchAll(/\S+/g)].map(({ index }) => index);
    const found = step > 0 ? starts.find((start) => start > offset) : starts.findLast((start) => start < offset);
    if (found !== undefined) return { line, offset: found };
    const next = this.lines[line + step]?.text;
    return next === undefined ? null : { line: line + step, offset: step > 0 ? 0 : next.search(/\S+\s*$/) };
  }
}

/**
 * Divide paragraphs, in several requests where they are long.
 *
 * @param {{kind: string, text: string}[]} paragraphs
 * @param {Text} text is added to
 * @param on {voice: gives the voice for a request; found: is told the text's language, and returns whether that changes the voice}
 * @yields after each addition
 * @throws {ApiError} or DOMException "AbortError"
 */
export async function* divide(paragraphs, text, on, signal) {
  let limit = FIRST;
  try {
    for (let place = 0; place < paragraphs.length; limit = MOST) {
      const batch = [];
      for (let size = 0; place < paragraphs.length; place += 1) {
        size += paragraphs[place].text.length;
        if (batch.length && size > limit) break;
        batch.push(paragraphs[place]);
      }
      const lines = batch.map((each) => each.text);
      const answer = async () => (await ask("v1/text/sentences", { body: { paragraphs: lines, voice: on.voice() }, signal })).json();
      let divided = await answer();
      if (limit === FIRST && on.found(divided.evident_language)) divided = await answer();
      divided.paragraphs.forEach((lines, number) => text.add(batch[number].kind, lines));
      yield;
      text.grew();
    }
  } finally {
    text.grew(true);
  }
}

/** Paragraphs of plain text: blank lines separate them. One that is too long for a request is split at a space. */
export function paragraphsOf(plain, kind = "p") {
  const parts = plain.split(/\n[^\S\n]*\n\s*/).filter((part) => part.trim());
  return parts.flatMap((part) => part.match(/[^]{1,80000}(?=\s|$)|[^]{1,80000}/g)).map((text) => ({ kind, text }));
}

/** Paragraphs with their title: a short first one is a heading. */
export function titled([first, ...others]) {
  const text = first.text.trim();
  const heading = text.length <= TITLE && others.length && !/[.!?…。]["'”’»)]*$/.test(text) && !text.includes("\n");
  const [line] = text.split("\n");
  return {
    title: line.length > TITLE ? `${line.slice(0, TITLE).replace(/\s+\S*$/, "")}…` : line,
    paragraphs: [heading && first.kind === "p" ? { kind: "h", text } : first, ...others],
  };
}
