// The list of jobs: one card for each book, kept while it changes, so that the focus stays where it is.

import { key } from "./api.js";
import { coverAt, coverOf } from "./cover.js";
import { keepAsFile, made } from "./made.js";
import { decimal, t } from "./words.js";

function time(seconds) {
  const minutes = Math.max(1, Math.round(seconds / 60));
  return minutes < 60 ? t("{minutes} min", { minutes }) : t("{hours} h {minutes} min", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}

/** What a job does now, in words. */
function told(job) {
  if (job.state === "failed") return job.error.message;
  if (job.state === "done") return t("Done: {time}, {size} MB.", { time: time(job.result.audio_seconds), size: Math.ceil(job.result.bytes / 1e6) });
  const parts = [];
  if (job.state === "queued") parts.push(job.position_in_queue ? t("{number} before it", { number: job.position_in_queue }) : t("Next"));
  if (job.chapter) parts.push(t("Chapter {number} of {of}: {title}", { number: job.chapter.number, of: job.chapters, title: job.chapter.title }));
  if (job.seconds_left !== null) parts.push(t("{time} left", { time: time(job.seconds_left) }));
  if (job.speed !== null) parts.push(t("{speed} × real time", { speed: decimal(job.speed, 1) }));
  if (job.waiting) parts.push(t("waiting: {why}", { why: job.waiting }));
  return `${parts.join(", ") || t("Being read")}.`;
}

class Card {
  #sure = false;
  entry = null; // {id, title, author, cover}, as the library keeps it
  whole = null; // ends when the book's own cover is there

  constructor(id, remove, fetched, heard) {
    this.id = id;
    this.cover = Object.assign(new Image(), { className: "cover", alt: "" });
    this.title = made("h3", {});
    this.bar = made("progress", { max: 1 });
    this.words = made("p", { className: "hint" });
    this.remove = made("button", { type: "button" });
    this.remove.addEventListener("click", () => this.#asked(remove));
    this.link = made("a", { hidden: true, textContent: t("Download"), href: `v1/jobs/${id}/result`, download: "" });
    this.link.addEventListener("click", (event) => fetched(event, this));
    this.hear = made("button", { type: "button", textContent: t("Listen"), hidden: true });
    this.hear.addEventListener("click", () => heard(this));
    const actions = made("p", { className: "actions" }, this.hear, this.link, this.remove);
    this.element = made("li", {}, this.cover, this.title, this.bar, this.words, actions);
  }

  show(job) {
    this.job = job;
    const name = job.title || job.file_name;
    this.entry = { id: job.id, title: name, author: job.author ?? "", cover: this.entry?.cover };
    this.cover.src = coverOf(this.entry);
    if (job.cover) this.whole ??= coverAt(job.cover.slice(1)).then((cover) => this.#take(cover), () => {});
    this.title.textContent = job.author ? `${name}, ${job.author}` : name;
    this.bar.value = job.progress;
    this.bar.hidden = job.position_in_queue === null;
    this.bar.ariaLabel = t("Progress of {name}", { name });
    this.words.textContent = told(job);
    this.words.classList.toggle("books-wrong", job.state === "failed");
    this.link.hidden = job.state !== "done";
    this.hear.hidden = !new Audio().canPlayType(job.result?.content_type ?? "");
    this.hear.ariaLabel = t("Listen to {name}", { name });
    this.link.ariaLabel = t("Download {name}", { name });
    this.#label();
  }

  #take(cover) {
    this.entry.cover = cover;
    this.cover.src = coverOf(this.entry);
  }

  #label() {
    const ended = this.job.position_in_queue === null;
    const words = ended ? [t("Delete"), t("Really delete?")] : [t("Cancel"), t("Really cancel?")];
    this.remove.textContent = words[Number(this.#sure)];
    this.remove.ariaLabel = `${this.remove.textContent} ${this.job.title || this.job.file_name}`;
  }

  /** A book that took a night goes with the second click, not with the first. */
  #asked(remove) {
    if (this.#sure) return remove(this);
    this.#sure = true;
    this.#label();
    this.remove.addEventListener("blur", () => {
      this.#sure = false;
      this.#label();
    }, { once: true });
  }
}

export class JobCards {
  #cards = new Map();

  /** `tried` does what it is given, and tells the text that this resolves to, or its error; `heard` is called with a card. */
  constructor(api, tried, heard) {
    this.api = api;
    this.tried = tried;
    this.heard = heard;
    this.element = made("ul", { className: "books-jobs", ariaLabel: t("Books on the server") });
  }

  /** @param {object[]} jobs as GET /v1/jobs lists them; the newest is shown first */
  show(jobs) {
    const ids = new Set(jobs.map((job) => job.id));
    for (const [id, card] of this.#cards) {
      if (ids.has(id)) continue;
      card.element.remove();
      this.#cards.delete(id);
    }
    for (const job of jobs) this.of(job);
    this.element.hidden = !jobs.length;
  }

  /** The card of a job, as it is now. */
  of(job) {
    let card = this.#cards.get(job.id);
    if (!card) {
      card = new Card(job.id, (one) => this.#remove(one), (event, one) => this.#download(event, one), this.heard);
      this.#cards.set(job.id, card);
      this.element.prepend(card.element);
    }
    card.show(job);
    return card;
  }

  #remove(card) {
    this.tried(async () => {
      await this.api(`v1/jobs/${card.id}`, { method: "DELETE" });
      return t("{name} is deleted.", { name: card.job.title || card.job.file_name });
    });
  }

  /** A link can't carry the key, so with one the file is fetched and then saved. */
  #download(event, card) {
    if (!key()) return;
    event.preventDefault();
    this.tried(async () => {
      const blob = await (await this.api(`v1/jobs/${card.id}/result`)).blob();
      keepAsFile(blob, card.job.result.file_name);
      return t("Downloaded {name}.", { name: card.job.result.file_name });
    });
  }
}
