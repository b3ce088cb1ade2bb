// A finished book on the page: its chapters, its speed, and its text, in which the sentence that sounds is lit up.

import { key } from "./api.js";
import { find, keep } from "./library.js";
import { made } from "./made.js";
import { Marks, selectedIn } from "./marks.js";
import { showSystem } from "./media.js";
import { settings } from "./settings.js";
import { t } from "./words.js";

const SPEEDS = [0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3];

const AGAIN = 5; // seconds between two notes of the place

/** A player of one book; `element` is put on the page. */
export class BookPlayer {
  #api;
  #job;
  #card;
  #sound = made("audio", { controls: true, preload: "metadata" });
  #chapters = made("ol", {});
  #text = made("p", { className: "book-text", tabIndex: 0, role: "region", ariaLabel: t("The text as it is read") });
  #all = []; // {title, start, sentences: [{text, start}]}
  #shown = -1; // the number of the chapter whose text is shown
  #noted = 0;
  #entry = null; // what the library keeps of the book
  #marks = new Marks({
    here: () => this.#here(),
    go: ({ seconds }) => this.#go(seconds),
    changed: () => this.#note(),
    time: ({ place }) => clock(place.seconds),
  });

  /** @param api as `ask` @param card of a job that is done */
  constructor(api, card) {
    const { job } = card;
    this.#api = api;
    this.#job = job;
    this.#card = card;
    this.#sound.ariaLabel = job.title || job.file_name;
    const speed = made("select", { ariaLabel: t("Speed") }, ...SPEEDS.map((each) => new Option(`${each}×`, each)));
    speed.value = 1;
    speed.addEventListener("change", () => (this.#sound.playbackRate = Number(speed.value)));
    const list = made("details", { className: "book-chapters" }, made("summary", { textContent: t("Chapters") }), this.#chapters);
    const mark = made("button", { type: "button", textContent: t("Bookmark") });
    mark.addEventListener("click", () => this.#marks.set());
    this.element = made("div", { className: "book-player" }, this.#sound, speed, mark, list, this.#marks.element, this.#text);
    this.#sound.addEventListener("play", () => this.#entry && showSystem(this.#entry, this.#actions));
    for (const event of ["timeupdate", "seeked"]) this.#sound.addEventListener(event, () => this.#look());
    this.#chapters.addEventListener("click", ({ target }) => target.dataset.start && this.#go(Number(target.dataset.start)));
    this.#text.addEventListener("click", ({ target }) => target.dataset.start && this.#go(Number(target.dataset.start)));
  }

  /** Load the book and play it from where it was left. */
  async begin() {
    const path = `v1/jobs/${this.#job.id}`;
    // An audio element can't send the key, so with one the file is fetched whole.
    const file = key() ? URL.createObjectURL(await (await this.#api(`${path}/result`)).blob()) : `${path}/result`;
    this.#sound.src = file;
    const spoken = await this.#api(`${path}/text`).then((answer) => answer.json(), () => ({ chapters: [] })); // made before texts were kept
    this.#all = spoken.chapters;
    const ends = [...this.#all.slice(1).map(({ start }) => start), this.#job.result.audio_seconds];
    this.#chapters.replaceChildren(...this.#all.map(({ title, start }, number) => {
      const go = at(start, "button", { type: "button", textContent: title || String(number + 1) });
      return made("li", {}, go, made("small", { className: "hint", textContent: clock(ends[number] - start) }));
    }));
    this.#chapters.parentElement.hidden = this.#all.length < 2;
    const paragraphs = this.#all.flatMap(({ title: heading, sentences }) => [
      { kind: "chapter", text: heading },
      { kind: "p", text: sentences.map(({ text }) => text).join(" ") },
    ]);
    const { place, marks = [] } = (await find(this.#job.id).catch(() => null)) ?? {}; // a private window keeps nothing
    await this.#card.whole;
    this.#entry = { ...this.#card.entry, paragraphs, marks };
    this.#marks.show(marks);
    this.#sound.currentTime = place?.seconds ?? 0;
    this.#look();
    await this.#sound.play().catch(() => {}); // the browser wants another click
  }

  /** Be silent. */
  end() {
    this.#note();
    this.#sound.pause();
    if (this.#sound.src.startsWith("blob:")) URL.revokeObjectURL(this.#sound.src);
  }

  get #actions() {
    const by = (seconds) => () => (this.#sound.currentTime += seconds);
    const chapter = (step) => () => this.#go(this.#all[Math.max(0, this.#shown + step)]?.start ?? this.#sound.currentTime);
    const pause = () => this.#sound.pause();
    const steps = { previoustrack: chapter(-1), nexttrack: chapter(1), seekbackward: by(-15), seekforward: by(15) };
    return { play: () => this.#sound.play(), pause, stop: pause, ...steps };
  }

  #go(seconds) {
    this.#sound.currentTime = seconds;
    this.#sound.play();
  }

  #note() {
    this.#noted = Date.now();
    const { currentTime, duration } = this.#sound;
    if (!this.#entry || !settings.keep || !duration) return;
    const ended = currentTime >= duration - 1;
    const place = { seconds: ended ? 0 : currentTime };
    keep({ ...this.#entry, place, part: ended ? 1 : currentTime / duration, at: Date.now() }).catch(() => {});
  }

  /** The sentence that is selected, or that sounds. */
  #here() {
    const sentence = selectedIn(this.#text) ?? this.#text.querySelector(".current");
    return sentence && { place: { seconds: Number(sentence.dataset.start) }, words: sentence.textContent.trim() };
  }

  #look() {
    const now = this.#sound.currentTime + 0.05;
    const number = this.#all.findLastIndex(({ start }) => start <= now);
    if (number !== this.#shown && number >= 0) {
      this.#shown = number;
      this.#text.replaceChildren(...this.#all[number].sentences.map(({ text, start }) => at(start, "span", { className: "sentence", textContent: `${text} ` })));
      [...this.#chapters.children].forEach((row, each) => (row.firstChild.ariaCurrent = each === number ? "true" : null));
    }
    const sounds = [...this.#text.children].findLast((each) => Number(each.dataset.start) <= now);
    if (!sounds?.classList.contains("current")) {
      this.#text.querySelector(".current")?.classList.remove("current");
      sounds?.classList.add("current");
      if (sounds) this.#text.scrollTop = sounds.offsetTop - this.#text.offsetTop - this.#text.clientHeight / 3;
    }
    if (Date.now() - this.#noted > AGAIN * 1000 && !this.#sound.paused) this.#note();
  }
}

/** As 1:02:03. */
function clock(seconds) {
  const [hours, minutes, rest] = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map(Math.floor);
  const parts = hours ? [hours, String(minutes).padStart(2, "0")] : [minutes];
  return [...parts, String(rest).padStart(2, "0")].join(":");
}

/** An element that is heard from so many seconds on. */
function at(start, tag, properties) {
  const element = made(tag, properties);
  element.dataset.start = start;
  return element;
}
