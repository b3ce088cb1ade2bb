// The list of what was read before: a click goes on where it was left.

import { forget, forgetAll, kept } from "./library.js";

const DAYS = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export class Shelf {
  #elements;
  #onOpen;

  /**
   * @param elements {shelf, list, clear}
   * @param onOpen called with the entry that is to be read on
   */
  constructor(elements, onOpen) {
    this.#elements = elements;
    this.#onOpen = onOpen;
    elements.clear.addEventListener("click", async () => {
      await forgetAll();
      await this.show();
    });
  }

  /** Show what is kept now. */
  async show() {
    const entries = await kept();
    this.#elements.shelf.hidden = !entries.length;
    this.#elements.list.replaceChildren(...entries.map((entry) => this.#row(entry)));
  }

  #row(entry) {
    const { id, title, part, at } = entry;
    const row = document.createElement("li");
    const open = Object.assign(document.createElement("button"), { type: "button", className: "kept" });
    const name = Object.assign(document.createElement("span"), { className: "kept-title", textContent: title, dir: "auto" });
    const read = part > 0.995 ? "read" : `${Math.round(part * 100)}% read`;
    const facts = Object.assign(document.createElement("span"), { className: "kept-facts", textContent: `${read}, ${day(at)}` });
    const bar = document.createElement("progress");
    Object.assign(bar, { max: 1, value: part, ariaHidden: "true" });
    open.append(name, facts, bar);
    open.addEventListener("click", () => this.#onOpen(entry));
    const remove = Object.assign(document.createElement("button"), { type: "button", className: "icon", textContent: "×" });
    remove.ariaLabel = `Delete ${title}`;
    remove.addEventListener("click", async () => {
      await forget(id);
      const next = row.nextElementSibling ?? row.previousElementSibling;
      row.remove();
      this.#elements.shelf.hidden = !next;
      next?.querySelector(".icon").focus();
    });
    row.append(open, remove);
    return row;
  }
}

function day(at) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  return DAYS.format(Math.floor((at - midnight) / 86_400_000), "day");
}
