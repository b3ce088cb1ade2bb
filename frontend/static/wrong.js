// The dialog for a word that was said wrongly: ways to say it, each of which is heard, and one of which is kept.

import { ask, key } from "./api.js";
import { made } from "./made.js";
import { sound } from "./sample.js";
import { language, t } from "./words.js";

const WORD = /[\p{L}\p{N}]\S*(?<=[\p{L}\p{M}\p{N}+#])/gu;
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u;
const NAMES = new Intl.DisplayNames([language], { type: "language" });
const HOWS = {
  ...{ now: t("now"), otherwise: t("otherwise"), rules: t("by rules"), letters: t("by letters") },
  ...{ "African or Indonesian": t("African or Indonesian"), "South Asian": t("South Asian") },
  ...{ noun: t("noun"), verb: t("verb"), adjective: t("adjective"), adverb: t("adverb"), past: t("past"), "another sense": t("another sense") },
};

let wrong = null;

/**
 * Show the words of what is read, and the ways to say one.
 * @param {Reader} reader is paused
 * @param {{line: number, offset: number} | null} clicked the place of the word that was clicked last
 */
export function mend(dialog, reader, clicked) {
  if (!reader.text?.lines.length) return;
  reader.pause();
  (wrong ??= new Wrong(dialog, reader)).open(clicked);
}

/** The words of a sentence: what stands between spaces, without the signs around it; of Japanese and Chinese by the browser's dictionary. */
function* wordsOf(text) {
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!UNSPACED.test(word)) yield { word, index };
    else {
      for (const part of new Intl.Segmenter([], { granularity: "word" }).segment(word)) {
        if (part.isWordLike) yield { word: part.segment, index: index + part.index };
      }
    }
  }
}

class Wrong {
  #dialog;
  #reader;
  #begins; // the place of the sentence
  #asking = null; // the AbortController of what is asked for or heard

  /** @param {HTMLDialogElement} dialog with `.choice`, `.ways`, `.error`, a status, a select and a checkbox in it */
  constructor(dialog, reader) {
    [this.#dialog, this.#reader] = [dialog, reader];
    dialog.addEventListener("close", () => this.#asking?.abort());
    this.#part("choice").addEventListener("change", () => this.#choose());
  }

  #part(name) {
    return this.#dialog.querySelector(`.${name}`);
  }

  /* The sentence of the word that was clicked, if it is the last one that sounded or the one before: a word is heard before one says so. */
  open(clicked) {
    const { text, place, ended } = this.#reader;
    const now = ended ? text.sentences.length - 1 : text.sentenceAt(place);
    const near = clicked && [now - 1, now].includes(text.sentenceAt(clicked));
    const from = near ? clicked : ended ? text.placeOf(now) : place;
    const first = text.sentenceAt(from);
    this.#begins = text.placeOf(first);
    const inputs = [];
    let nearest = 0;
    for (const { line, from: start, to } of text.sentences.slice(first, now + 1)) {
      for (const { word, index } of wordsOf(text.lines[line].text.slice(start, to))) {
        if (line === from.line && start + index <= from.offset) nearest = inputs.length;
        inputs.push(made("input", { type: "radio", name: "wrong-word", value: word }));
      }
    }
    const labels = inputs.map((input) => made("label", {}, input, input.value));
    this.#part("choice").replaceChildren(this.#part("choice").firstElementChild, ...labels);
    this.#part("ways").replaceChildren();
    this.#dialog.showModal();
    if (!inputs.length) return;
    inputs[nearest].checked = true;
    inputs[nearest].focus();
    this.#choose();
  }

  get #word() {
    return this.#part("choice").querySelector(":checked").value;
  }

  #choose() {
    const word = this.#word;
    this.#part("ways").replaceChildren();
    this.#dialog.querySelector("select").value = "";
    this.#dialog.querySelector("[type=checkbox]").closest("label").hidden = word === word.toLowerCase();
    this.#ask(word);
  }

  /** Show the ways to say a word, after a change of its entry, if one is named, which nothing ends. */
  #ask(word, change = null, told = "") {
    this.#trying(async (signal) => {
      const voice = this.#reader.how.voice;
      if (change) {
        await ask("v1/pronunciation", { body: { voice, ...change } });
        this.#reader.pump.forget();
        if (this.#dialog.open) this.#reader.seek(this.#begins);
      }
      const answer = await (await ask("v1/pronunciation", { body: { word, voice }, signal })).json();
      this.#dialog.querySelector("select").closest("label").hidden = !answer.language.startsWith("en");
      this.#part("ways").replaceChildren(...answer.ways.map((way) => this.#way(word, way)));
      if (!change) return;
      this.#dialog.querySelector("[role=status]").textContent = told;
      this.#part("ways").querySelector("button")?.focus();
    });
  }

  #way(word, { phonemes, how, origin, part, kept, probability }) {
    const said = `/${phonemes}/`;
    const source = HOWS[how.replace(/^as | \(.*/g, "")] ?? NAMES.of(origin);
    const name = [source, kept && t("your lexicon"), probability?.toLocaleString(language, { style: "percent" })];
    const named = name.filter(Boolean).join(", ");
    const button = (textContent, ariaLabel, onclick) => made("button", { type: "button", className: "plain", textContent, ariaLabel, onclick });
    const request = { ...this.#reader.how, input: word, pronunciations: { [word]: said } };
    const hear = () => this.#trying((signal) => sound(request, signal, "word"));
    const takeBack = () => this.#ask(word, { word, forget: true, part }, t("Taken back: {name}", { name: word }));
    const change = kept
      ? button(t("Take back"), t("Take back {name}", { name: named }), takeBack)
      : button(t("Keep"), t("Keep {name}", { name: named }), () => this.#keep(word, said));
    const texts = [made("span", { textContent: said }), made("small", { textContent: named })];
    return made("li", {}, ...texts, made("div", {}, button(t("Listen"), t("Hear {name}", { name: named }), hear), change));
  }

  #keep(word, keep) {
    const [select, box] = [this.#dialog.querySelector("select"), this.#dialog.querySelector("[type=checkbox]")];
    const part = (!select.closest("label").hidden && select.value) || null;
    const written = box.checked ? word : word.toLowerCase();
    this.#ask(word, { word: written, keep, part, ...(key() && { mine: true }) }, t("Kept: {name}", { name: written }));
  }

  /** Do one thing that asks the server, in place of the one before it. */
  async #trying(act) {
    this.#asking?.abort();
    const { signal } = (this.#asking = new AbortController());
    this.#part("error").textContent = this.#dialog.querySelector("[role=status]").textContent = "";
    try {
      await act(signal);
    } catch (error) {
      if (error.name !== "AbortError") this.#part("error").textContent = error.message;
    }
  }
}
