// Bookmarks of what is read, each with a note: the list beside the text. They are kept in the text's entry of the library.

import { made } from "./made.js";
import { say } from "./notices.js";
import { language, t } from "./words.js";

const MOST = 120; // characters of a sentence that its bookmark shows

const WHEN = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

/** @typedef {{place: {line: number, offset: number} | {seconds: number}, words: string, note: string, at: number,
 *   gone?: boolean}} Mark `at`: when it was changed, in ms since 1970; `gone`: deleted, which other devices must hear of */

/** Where in its text a bookmark is: equal for the same place, and in the text's order. */
export const orderOf = ({ place: { line = 0, offset = 0, seconds = 0 } }) => line * 1e6 + offset + seconds;

/** The sentence's element within `root` in which the selection begins, if there is one. */
export function selectedIn(root) {
  const selection = getSelection();
  if (selection.isCollapsed) return undefined;
  const { startContainer: node } = selection.getRangeAt(0);
  const found = (node instanceof Element ? node : node.parentElement).closest(".sentence");
  return root.contains(found) ? (found ?? undefined) : undefined;
}

/** The bookmarks of the text that is read. */
export function marksOf(reader, pane, session) {
  return new Marks({
    here: () => (session.shown ? reader.text.told(pane.selected ?? reader.text.sentenceAt(reader.place)) : null),
    go: (place) => reader.play(place),
    changed: () => session.save(),
    shown: (all) => pane.flag(all),
  });
}

export class Marks {
  #all = [];
  #rows = new Map(); // of each bookmark
  #list = made("ol", {});
  #details;
  #on;

  /**
   * @param on {here: returns {place, words} of the sentence to be marked, or null; go: called with a place; changed: called
   *   after each change; shown: called with the bookmarks that there are; time: what is shown of a bookmark's time}
   */
  constructor(on) {
    this.#on = { time: ({ at }) => WHEN.format(at), ...on };
    this.#details = made("details", {}, made("summary", { textContent: t("Bookmarks") }), this.#list);
    this.element = made("nav", { className: "marks", ariaLabel: t("Bookmarks"), hidden: true }, this.#details);
    const wide = matchMedia("(min-width: 80rem)");
    const open = () => (this.#details.open = wide.matches);
    wide.addEventListener("change", open);
    open();
  }

  /** Show a text's bookmarks. @param {Mark[]} all which is changed in place */
  show(all) {
    this.#all = all;
    this.#draw();
  }

  /** Mark the sentence that sounds or is selected. One that is marked has the focus go to its note. */
  set() {
    const here = this.#on.here();
    if (!here) return;
    const at = this.#all.findIndex((mark) => orderOf(mark) === orderOf(here));
    if (at >= 0 && !this.#all[at].gone) return this.#note(this.#all[at]);
    if (at >= 0) this.#all.splice(at, 1);
    const words = here.words.length > MOST ? `${here.words.slice(0, MOST).replace(/\s+\S*$/, "")}…` : here.words;
    this.#all.push({ place: here.place, words, note: "", at: Date.now() });
    this.#draw();
    say(t("Bookmarked: {words}", { words }));
    this.#on.changed();
  }

  #note(mark) {
    this.#details.open = true;
    this.#rows.get(mark).querySelector("textarea").focus();
  }

  #draw() {
    const shown = this.#all.filter(({ gone }) => !gone).sort((one, other) => orderOf(one) - orderOf(other));
    this.#rows = new Map(shown.map((mark) => [mark, this.#row(mark)]));
    this.#list.replaceChildren(...this.#rows.values());
    this.element.hidden = !shown.length;
    this.#on.shown?.(shown);
  }

  #row(mark) {
    const { words } = mark;
    const go = made("button", { type: "button", className: "to", dir: "auto", textContent: words });
    go.addEventListener("click", () => this.#on.go(mark.place));
    const note = made("textarea", { rows: 1, value: mark.note, dir: "auto", placeholder: t("Note"), ariaLabel: t("Note on {words}", { words }) });
    note.addEventListener("input", () => {
      Object.assign(mark, { note: note.value, at: Date.now() });
      this.#on.changed();
    });
    const remove = made("button", { type: "button", className: "icon", textContent: "×", ariaLabel: t("Delete {title}", { title: words }) });
    remove.addEventListener("click", () => {
      const place = [...this.#list.children].indexOf(row);
      Object.assign(mark, { gone: true, words: "", note: "", at: Date.now() });
      this.#draw();
      (this.#list.children[place] ?? this.#list.lastChild)?.querySelector(".icon").focus();
      this.#on.changed();
    });
    const row = made("li", {}, go, remove, made("small", { textContent: this.#on.time(mark) }), note);
    return row;
  }
}
