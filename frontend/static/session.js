// The text at hand: written, opened, read, and kept for the next time.

import { ApiError } from "./api.js";
import { find, idOf, keep } from "./library.js";
import { isMarkdown, markdown, written } from "./markdown.js";
import { settings } from "./settings.js";
import { TITLE, Text, divide, paragraphsOf, titled } from "./text.js";
import { t } from "./words.js";

export class Session {
  #elements;
  #reader;
  #pane;
  #follow;
  #on;
  #entry = null; // what is kept of the text that is open
  #opening = null;

  /**
   * @param elements {compose, reading, text, title}
   * @param {Reader} reader
   * @param {Pane} pane
   * @param {Follow} follow
   * @param on {voice, found: as of `divide`, found also with "" while no language is known; begun: called with {title, author, paragraphs, marks, text} when a text is open, closed: when none is any more, failed: called
   *   with an error}
   */
  constructor(elements, reader, pane, follow, on) {
    this.#elements = elements;
    this.#reader = reader;
    this.#pane = pane;
    this.#follow = follow;
    this.#on = on;
    reader.addEventListener("place", ({ detail }) => follow.show(pane.mark(detail)));
    reader.addEventListener("state", ({ detail }) => detail !== "playing" && this.save());
    const look = () => {
      reader.look();
      this.save();
    };
    addEventListener("pagehide", look);
    setInterval(() => reader.state === "playing" && look(), 5000);
  }

  /** The whole text, as it was written or opened. */
  get written() {
    return this.#entry ? this.#entry.paragraphs.map(({ text }) => text).join("\n\n") : this.#elements.text.value;
  }

  /** {title, author, cover} of the text that is open, or null. */
  get shown() {
    return this.#entry;
  }

  /** Read what was written; a web address alone is that page, which the server fetches. */
  async listen() {
    const text = this.#elements.text.value;
    if (/^\s*https?:\/\/\S+\s*$/i.test(text)) return await this.#take((open) => open.openAddress(text.trim()), true);
    const paragraphs = isMarkdown(text) ? markdown(text).flatMap((each) => paragraphsOf(each.text, each.kind)) : paragraphsOf(text);
    const blank = new ApiError(t("The text is blank: give something to speak."), { param: "input" });
    if (paragraphs.length) await this.#open(titled(paragraphs));
    else this.#on.failed(blank);
  }

  /** Show a file's text, ready to be read. */
  async file(file) {
    await this.#take((open) => open.openFile(file), false);
  }

  async #take(read, aloud) {
    if (aloud) this.#reader.pump.resume(); // in the click
    try {
      const { title, author, cover, paragraphs } = await read(await import("./open.js"));
      await this.#open({ ...titled(paragraphs), ...(title && { title: title.slice(0, 2 * TITLE) }), author, cover }, aloud);
    } catch (error) {
      this.#on.failed(error);
    }
  }

  /** Go on with a text that was kept. */
  resume = (entry) => this.#open(entry);

  /** Put the text back into the field in which it is written. */
  edit() {
    if (this.#entry) this.close(written(this.#entry.paragraphs));
  }

  /** Put the text away, and show the field with another. */
  close(text = "") {
    this.#opening?.abort();
    this.#reader.stop();
    this.save();
    this.#entry = null;
    this.#reader.open(null);
    this.#follow.show(null);
    this.#elements.reading.hidden = true;
    this.#elements.compose.hidden = false;
    this.#elements.text.value = text;
    this.#on.closed();
    this.#elements.text.focus();
  }

  /** Keep the text with the place that was reached, if texts are to be kept. */
  async save() {
    const { text, place } = this.#reader;
    const entry = this.#entry;
    if (!entry || !text || !settings.keep) return;
    const part = this.#reader.ended ? 1 : text.before(place) / text.characters;
    // A private window or a full disk: reading goes on, and nothing is kept.
    await keep({ ...entry, place, part, at: Date.now() }).catch(() => {});
  }

  async #open(entry, aloud = true) {
    this.#opening?.abort();
    const { signal } = (this.#opening = new AbortController());
    // The sound device must be opened in the click, not after the server's answer.
    if (aloud) this.#reader.pump.resume();
    const text = new Text();
    const id = entry.id ?? idOf(entry.paragraphs);
    entry = { ...entry, id, marks: entry.marks ?? (await find(id).catch(() => null))?.marks ?? [] };
    if (signal.aborted) return;
    this.#on.found("");
    try {
      for await (const _ of divide(entry.paragraphs, text, this.#on, signal)) {
        if (signal.aborted) return;
        this.#pane.show(text);
        // The place that was left may be in a part of a long text that is yet to come.
        if (this.#reader.text !== text && text.lines.length > (entry.place?.line ?? 0)) this.#begin(entry, text, aloud);
      }
      if (this.#reader.text !== text && text.lines.length) this.#begin(entry, text, aloud);
      if (!text.lines.length) throw new ApiError(t("The text is blank: give something to speak."), { param: "input" });
    } catch (error) {
      if (!signal.aborted) this.#on.failed(error);
    }
  }

  #begin({ id, title, author, cover, paragraphs, place, marks }, text, aloud) {
    this.#on.begun({ title, author, paragraphs, marks, text });
    this.#entry = { id, title, author, cover, paragraphs, marks };
    this.#pane.show(text);
    this.#elements.title.textContent = title;
    // A text that begins with its title has no other.
    this.#elements.title.classList.toggle("unseen", text.lines[0].text.startsWith(title.replace(/…$/, "")));
    this.#elements.compose.hidden = true;
    this.#elements.reading.hidden = false;
    scrollTo({ top: 0 });
    this.#reader.open(text, place && text.lines[place.line]?.text.length > place.offset ? place : undefined);
    if (aloud) this.#reader.play();
    this.#elements.title.focus();
  }
}
