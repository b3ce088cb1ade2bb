// The list of what was read before: a click goes on where it was left.

import { coverOf } from "./cover.js";
import { language, t } from "./words.js";
import { exported, find, forget, forgetAll, imported, kept } from "./library.js";
import { keepAsFile } from "./made.js";
import { failed } from "./notices.js";
import { settings } from "./settings.js";

const FEWEST = 5; // texts that are worth a search

const DAYS = new Intl.RelativeTimeFormat(language, { numeric: "auto" });

export class Shelf {
  #elements;
  #onOpen;
  #words = new Map(); // each row, and what gives the words in it

  /**
   * @param elements {shelf, list, clear, find, export, import, imported}
   * @param onOpen called with the entry that is to be read on
   */
  constructor(elements, onOpen) {
    this.#elements = elements;
    this.#onOpen = onOpen;
    elements.clear.addEventListener("click", async () => {
      await forgetAll();
      await this.show();
    });
    document.addEventListener("visibilitychange", () => settings.share && this.show());
    elements.find.addEventListener("input", () => this.#filter());
    elements.export.addEventListener("click", async () => keepAsFile(await exported(), "kokoro-live-library.json"));
    elements.import.addEventListener("click", () => elements.imported.click());
    elements.imported.addEventListener("change", async () => {
      const [file] = elements.imported.files;
      elements.imported.value = "";
      try {
        await imported(file);
      } catch {
        failed(new Error(t("{name} is no library of this page.", { name: file.name })));
      }
      await this.show();
    });
  }

  /** Show the texts that have the words that are searched for, in title or text. */
  #filter() {
    const wanted = this.#elements.find.value.trim().toLowerCase();
    for (const [row, words] of this.#words) row.hidden = !words().includes(wanted);
  }

  /** Show what is kept now, and what then comes from other devices. */
  async show() {
    await this.#draw();
    if (settings.keep && settings.share && (await (await import("./sync.js")).exchange())) await this.#draw();
  }

  async #draw() {
    const entries = await kept();
    this.#elements.shelf.hidden = !entries.length;
    this.#elements.find.hidden = entries.length < FEWEST;
    this.#words.clear();
    this.#elements.list.replaceChildren(...entries.map((entry) => this.#row(entry)));
    this.#filter();
  }

  #row(entry) {
    const { id, title, part, at } = entry;
    const row = document.createElement("li");
    const open = Object.assign(document.createElement("button"), { type: "button", className: "kept" });
    const name = Object.assign(document.createElement("span"), { className: "kept-title", textContent: title, dir: "auto" });
    const read = part > 0.995 ? t("read") : t("{percent}% read", { percent: Math.round(part * 100) });
    const facts = Object.assign(document.createElement("span"), { className: "kept-facts", textContent: `${read}, ${day(at)}` });
    const bar = document.createElement("progress");
    Object.assign(bar, { max: 1, value: part, ariaHidden: "true" });
    const cover = Object.assign(new Image(), { src: coverOf(entry), className: "cover", alt: "" });
    open.append(cover, name, facts, bar);
    // Another device's place may have come since the row was drawn.
    open.addEventListener("click", async () => this.#onOpen((await find(id)) ?? entry));
    const remove = Object.assign(document.createElement("button"), { type: "button", className: "icon", textContent: "×" });
    remove.ariaLabel = t("Delete {title}", { title });
    remove.addEventListener("click", async () => {
      await forget(id);
      const next = row.nextElementSibling ?? row.previousElementSibling;
      row.remove();
      this.#elements.shelf.hidden = !next;
      next?.querySelector(".icon").focus();
    });
    row.append(open, remove);
    const { author = "", paragraphs, marks = [] } = entry;
    this.#words.set(row, () => [title, author, ...paragraphs.map(({ text }) => text), ...marks.map(({ note }) => note)].join("\n").toLowerCase());
    return row;
  }
}

function day(at) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  return DAYS.format(Math.floor((at - midnight) / 86_400_000), "day");
}
