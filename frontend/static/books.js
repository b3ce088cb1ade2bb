// The tab of books: a file is dropped, becomes a job of /v1/jobs, and its progress and download are shown.

import { ask } from "./api.js";
import { BookForm } from "./book_form.js";
import { JobCards } from "./book_jobs.js";
import { made } from "./made.js";
import { t } from "./words.js";

const POLL = 2000; // milliseconds between two looks while something is being made

/** Fill the tab's panel, once. @param {HTMLElement} section the panel */
export function mountBooks(section) {
  return new Books(section, ask);
}

class Books {
  #timer = 0;
  #asking = false;
  #again = false;
  #playing = null; // {card, player}

  constructor(section, api) {
    this.section = section;
    this.api = api;
    this.form = new BookForm(api, (fields) => this.#upload(fields), (error) => (this.wrong.textContent = error?.message ?? ""));
    this.cards = new JobCards(api, (work) => this.#tried(work), (card) => this.#hear(card));
    this.said = made("p", { role: "status", className: "books-said" });
    this.wrong = made("p", { role: "alert", className: "books-wrong" });
    this.old = made("p", { role: "alert", className: "books-wrong" });
    const title = made("h2", { textContent: t("Books") });
    section.append(title, this.form.element, this.said, this.wrong, this.old, this.cards.element);
    document.addEventListener("visibilitychange", () => this.restart());
  }

  /** Look now, and again while something is being made and the tab is seen. */
  async restart() {
    clearTimeout(this.#timer);
    if (this.section.hidden || document.hidden) return;
    this.#again = true; // an answer that is on its way may be older than what has just been uploaded
    if (this.#asking) return;
    this.#asking = true;
    let wait = 0;
    while (this.#again) {
      this.#again = false;
      wait = await this.#listed();
    }
    this.#asking = false;
    if (wait) this.#timer = setTimeout(() => this.restart(), wait);
  }

  /** Show the list as it is now; milliseconds until the next look, 0 for none. */
  async #listed() {
    try {
      const jobs = (await (await this.api("v1/jobs")).json()).data;
      this.cards.show(jobs);
      this.old.textContent = "";
      return jobs.some((job) => job.position_in_queue !== null) ? POLL : 0;
    } catch (error) {
      const what = this.cards.element.hidden ? t("The books can't be listed") : t("This list may be out of date");
      this.old.textContent = `${what}: ${error.message.replaceAll("`", "")}`;
      return 5 * POLL;
    } finally {
      this.cards.element.classList.toggle("books-old", this.old.textContent !== "");
    }
  }

  /** Play a finished book. */
  async play(id) {
    this.#silent();
    await this.#tried(async () => this.#play(this.cards.of(await (await this.api(`v1/jobs/${id}`)).json())));
  }

  /** Play a book beneath its card, in place of another; a second press puts the player away. */
  #hear(card) {
    const again = this.#playing?.card === card;
    this.#silent();
    if (!again) this.#tried(() => this.#play(card));
  }

  async #play(card) {
    const { BookPlayer } = await import("./book_player.js");
    const player = new BookPlayer(this.api, card);
    this.#playing = { card, player };
    card.element.append(player.element);
    player.element.scrollIntoView({ block: "nearest" });
    await player.begin();
    return "";
  }

  #silent() {
    this.#playing?.player.end();
    this.#playing?.player.element.remove();
    this.#playing = null;
  }

  async #upload(fields) {
    await this.#tried(async () => {
      this.said.textContent = t("Uploading…");
      const job = await (await this.api("v1/jobs", { body: fields })).json();
      this.form.clear();
      return t("{name} is in the queue.", { name: job.file_name });
    });
  }

  /** Do something with the jobs, tell what came of it, and look again. */
  async #tried(work) {
    this.wrong.textContent = "";
    try {
      this.said.textContent = await work();
    } catch (error) {
      this.#fail(error);
    }
    await this.restart();
  }

  #fail(error) {
    this.said.textContent = "";
    this.wrong.textContent = error.message.replaceAll("`", "");
  }
}
