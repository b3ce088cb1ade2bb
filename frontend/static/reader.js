// Reads a text aloud from any place, and goes elsewhere, faster or in another voice while it does.

import { keyOf } from "./feed.js";
import { Pump } from "./pump.js";

const SOON = 0.3; // seconds that still sound after a change of voice or speed: in that time the server answers

const AGAIN = 12;
/* Characters into a sentence after which going back means its beginning, and before which the sentence before. */

/** Events: `state`, and `place` with {line, offset, to, word}: what is heard, or will be heard first. */
export class Reader extends EventTarget {
  text = null;
  place = { line: 0, offset: 0 };
  state = "idle"; // or "waiting" for speech, "playing", "paused"
  ended = false; // the text was heard to its end, and nothing since
  how; // {voice, speed}
  pump = new Pump();
  #failed = false;
  #follows = false;

  constructor(how) {
    super();
    this.how = how;
    this.pump.addEventListener("trouble", () => (this.#failed = true));
    this.pump.addEventListener("end", () => this.#ended());
  }

  /** Take a text, to be read from a place on; null: none. */
  open(text, place = { line: 0, offset: 0 }) {
    this.stop();
    this.pump.forget();
    this.text = text;
    if (text) this.#show(place);
    this.#tell("state", this.state);
  }

  toggle() {
    if (this.state === "idle") this.play();
    else if (this.state === "paused") this.#resume();
    else this.pause();
  }

  pause() {
    if (this.state === "idle") return;
    this.look();
    this.pump.pause();
    this.#set("paused");
  }

  /** Read from a place on. A browser lets it sound only after a click or a key. */
  play(place = this.place) {
    if (!this.text?.lines.length) return;
    this.#resume();
    this.seek(place);
  }

  /** Go to a place. A reader that is paused stays so, and one that is idle will begin there. */
  seek(place) {
    this.#show(place);
    if (this.state !== "idle") this.#run(place);
  }

  /** Go to the next (1) or to the last (-1) sentence's beginning. */
  sentence(step) {
    const { text, place } = this;
    if (!text) return;
    const now = text.sentenceAt(place);
    const again = step < 0 && place.offset - text.sentences[now].from > AGAIN;
    const wanted = Math.max(0, again ? now : now + step);
    if (wanted < text.sentences.length) this.seek(text.placeOf(wanted));
  }

  /** Go to the next (1) or to the last (-1) word. */
  word(step) {
    const place = this.text?.wordFrom(this.place, step);
    if (place) this.seek(place);
  }

  /** Go on in another voice or at another speed, from the next word on. */
  change(how) {
    if (keyOf(how) === keyOf(this.how)) return;
    this.how = how;
    if (this.state === "idle") return;
    const mark = this.pump.coming(this.state === "paused" ? 0 : SOON);
    if (mark) this.#run({ line: mark.line, offset: mark.from }, mark.at);
    else this.#run(this.place);
  }

  /** Be silent; the place stays. */
  stop() {
    if (this.state === "idle") return;
    this.look();
    this.pump.halt();
    this.#set("idle");
  }

  /** Note what is heard now. */
  look() {
    if (this.state === "idle") return;
    // All of them, also where a busy machine has left frames out: no word stays dark.
    for (const mark of this.pump.begun()) {
      this.place = { line: mark.line, offset: mark.from };
      this.#tell("place", { ...this.place, to: mark.to, word: mark.kind === "word" });
    }
    if (this.state !== "paused") this.#set(this.pump.dry ? "waiting" : "playing");
  }

  #run(place, position) {
    this.#failed = false;
    this.pump.run(this.text, place, this.how, position);
  }

  #resume() {
    this.pump.resume();
    this.#set("waiting");
  }

  #ended() {
    // After a failure it can be tried again from there.
    if (!this.#failed) this.#show({ line: 0, offset: 0 });
    this.ended = !this.#failed;
    this.#set("idle");
  }

  #show(place) {
    this.ended = false;
    this.place = place;
    this.#tell("place", { ...place, to: place.offset, word: false });
  }

  #set(state) {
    if (state === this.state) return;
    this.state = state;
    this.#tell("state", state);
    if (!this.#follows) this.#follow();
  }

  /* Look at each frame, but only while something sounds or will: a page that stands still costs no processor time. */
  #follow() {
    this.#follows = this.state === "playing" || this.state === "waiting";
    const next = () => (this.look(), this.#follow());
    if (this.#follows) requestAnimationFrame(next);
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
