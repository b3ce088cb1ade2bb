// The dialog with a sentence's melody: its pitch over its words, each of which is drawn up, longer, or emphasised.
//
// An edit is an inflection of a word in the sentence's score. The phonemes go back without their values, so that what
// isn't edited stays the model's own.

import { ask } from "./api.js";
import { keepAsFile } from "./made.js";
import { PLAIN, edited, spokenWords, ssml } from "./melody_edits.js";
import { column, drag, draw, keyed } from "./melody_words.js";
import { sound } from "./sample.js";

let melody = null;

/** Show the melody of the sentence that is read. @param {Reader} reader is paused */
export function shape(dialog, reader) {
  const { text, place, how } = reader;
  if (!text?.lines.length) return;
  reader.pause();
  const { line, from, to } = text.sentences[text.sentenceAt(place)];
  (melody ??= new Melody(dialog)).open(text.lines[line].text.slice(from, to).trim(), how);
}

class Melody {
  #dialog;
  #words; // the element of all words
  #sentence = { text: "", how: {} };
  #score = null;
  #spoken = []; // {written, segment, words, phonemes, seconds}
  #edits = []; // of each of `#spoken`: {pitch, stretch, emphasis}
  #before = []; // earlier `#edits`
  #dragged = false;
  #hearing = null; // the AbortController of what is asked for or heard

  /** @param {HTMLDialogElement} dialog with `.words`, `.error` and buttons with `data-does` in it */
  constructor(dialog) {
    this.#dialog = dialog;
    this.#words = dialog.querySelector(".words");
    const does = {
      hear: () => this.#hear(),
      undo: () => this.#before.length && this.#take(this.#before.pop()),
      ssml: () => this.#keep(ssml(this.#sentence.text, this.#spoken, this.#edits), "ssml"),
      score: () => this.#keep(JSON.stringify({ score: edited(this.#score, this.#spoken, this.#edits) }, null, 1), "json"),
    };
    dialog.addEventListener("close", () => this.#hearing?.abort());
    dialog.addEventListener("click", ({ target }) => does[target.closest("[data-does]")?.dataset.does]?.());
    dialog.addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "z") does.undo();
      else if (event.target.parentElement !== this.#words || !this.#key(event)) return;
      event.preventDefault();
    });
    this.#words.addEventListener("pointerdown", (event) => this.#drag(event));
    this.#words.addEventListener("click", ({ target, detail }) => {
      if (detail && this.#dragged) return; // the end of a drag is no click
      const number = this.#numberOf(target);
      if (number >= 0) this.#edit(number, { emphasis: !this.#edits[number].emphasis });
    });
  }

  /** Show a sentence. @param how {voice, speed} */
  async open(text, how) {
    this.#sentence = { text, how };
    this.#score = null;
    [this.#spoken, this.#edits, this.#before] = [[], [], []];
    this.#words.replaceChildren();
    this.#show();
    this.#dialog.showModal();
    await this.#trying(async (signal) => {
      this.#score = await (await ask("v1/audio/score", { body: { input: text, ...how }, signal, patient: true })).json();
      this.#spoken = spokenWords(this.#score);
      this.#edits = this.#spoken.map(() => PLAIN);
      this.#words.replaceChildren(...this.#spoken.map(column));
      this.#show();
      this.#words.firstElementChild?.focus();
    });
  }

  #numberOf(target) {
    return [...this.#words.children].indexOf(target.closest("button"));
  }

  /** Change a word, and let it be heard. */
  #edit(number, change) {
    const edits = this.#with(number, change);
    if (JSON.stringify(edits) === JSON.stringify(this.#edits)) return;
    this.#before.push(this.#edits);
    this.#take(edits);
  }

  #take(edits) {
    this.#edits = edits;
    this.#show();
    this.#hear();
  }

  #key(event) {
    const number = this.#numberOf(event.target);
    const change = keyed(event, this.#edits[number]);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (change) this.#edit(number, change);
    else if (step) this.#words.children[number + step]?.focus();
    return change || step;
  }

  #drag(event) {
    this.#dragged = false;
    const number = this.#numberOf(event.target);
    if (number < 0) return;
    drag(this.#words.children[number], event, this.#edits[number], {
      moved: (change) => draw(this.#words.children, this.#spoken, this.#with(number, change)),
      ended: (change) => {
        this.#dragged = true;
        if (change) this.#edit(number, change);
        this.#show();
      },
    });
  }

  #with(number, change) {
    return this.#edits.with(number, { ...this.#edits[number], ...change });
  }

  #show() {
    for (const button of this.#dialog.querySelectorAll("[data-does]")) {
      button.disabled = button.dataset.does === "undo" ? !this.#before.length : !this.#score;
    }
    draw(this.#words.children, this.#spoken, this.#edits);
  }

  #keep(text, extension) {
    keepAsFile(new Blob([text]), `${this.#sentence.text.slice(0, 40).replace(/[.\s]+$/, "")}.${extension}`);
  }

  #hear() {
    this.#trying((signal) => sound({ score: edited(this.#score, this.#spoken, this.#edits) }, signal, "melody"));
  }

  /** Do one thing that asks the server, in place of the one before it. */
  async #trying(act) {
    this.#hearing?.abort();
    const { signal } = (this.#hearing = new AbortController());
    const told = this.#dialog.querySelector(".error");
    told.textContent = "";
    try {
      await act(signal);
    } catch (error) {
      if (!signal.aborted) told.textContent = error.message;
    }
  }
}
