// The voices of the engine that speaks, and the choice of one, or of a blend: what the API writes af_heart(2)+af_bella.

import { ask } from "./api.js";
import { choose, settings, usual } from "./settings.js";
import { language, t } from "./words.js";

export const MOST = 8; // that the API blends

const LANGUAGES = new Intl.DisplayNames([language], { type: "language" });

/** Events: `change` when the voices or the choice are others. */
export class Voices extends EventTarget {
  /** As GET /v1/audio/voices lists them. */
  all = [];
  /** The id of the voice that reads the text at hand in place of the choice, or "". */
  suited = "";
  #chosen = []; // {id, weight}
  #default = "";

  /** @param {string} spec as the API writes it; empty: the server's default */
  constructor(spec) {
    super();
    this.#chosen = parse(spec);
  }

  /** List the voices of the engine that speaks now; what was chosen stays chosen where it still exists. */
  async load() {
    const { voices, ...defaults } = await (await ask("v1/audio/voices")).json();
    this.all = voices;
    this.#default = defaults.default_voice;
    usual.speed = defaults.default_speed;
    const known = new Set(voices.map(({ id }) => id));
    const { suited } = this;
    this.#set(this.#chosen.filter(({ id }) => known.has(id)), known.has(suited) ? suited : "");
  }

  /** {id, weight} of each voice that speaks. */
  get chosen() {
    return this.suited ? [{ id: this.suited, weight: 1 }] : this.own;
  }

  /** The same, whatever suits the text at hand. */
  get own() {
    return this.#chosen.length ? this.#chosen : [{ id: this.#default, weight: 1 }];
  }

  /** The best voice of a language, if there is one and the choice speaks another. */
  bestFor(language) {
    const of = (code = "") => code.split("-")[0];
    const heaviest = this.own.reduce((most, each) => (each.weight > most.weight ? each : most));
    const own = this.all.find(({ id }) => id === heaviest.id)?.language;
    return of(own) === of(language) ? undefined : this.#sorted.find((voice) => of(voice.language) === of(language));
  }

  /** The voice for a request; undefined, which is the server's default, while none is known. */
  get spec() {
    return written(this.chosen) || undefined;
  }

  /** The choice as it is to be remembered: empty while it is the server's default. */
  get kept() {
    return written(this.#chosen);
  }

  /** The choice for people. */
  get title() {
    return this.chosen.map(({ id }) => titleOf(id)).join(" + ");
  }

  /** The voices in groups: [heading, voices]; favourites, then languages, the best voices of each first. */
  get groups() {
    const sorted = this.#sorted;
    const liked = sorted.filter(({ id }) => settings.favourites.includes(id));
    const others = Map.groupBy(sorted.filter((voice) => !liked.includes(voice)), languageOf);
    return [...(liked.length ? [[t("Favourites"), liked]] : []), ...others];
  }

  get #sorted() {
    return this.all.toSorted((one, other) => (one.grade ?? "Z").localeCompare(other.grade ?? "Z"));
  }

  /** Make a voice a favourite, or no longer one. */
  like(id) {
    const others = settings.favourites.filter((each) => each !== id);
    choose({ favourites: others.length < settings.favourites.length ? others : [...others, id] });
    this.all = [...this.all];
    this.dispatchEvent(new Event("change"));
  }

  /** Have a voice read the text at hand; "": those that were chosen. */
  suit(id) {
    this.#set(this.#chosen, id);
  }

  choose(id) {
    this.#set([{ id, weight: 1 }]);
  }

  /** Blend a voice in, or take it out. */
  blend(id) {
    const others = this.chosen.filter((each) => each.id !== id);
    if (others.length < this.chosen.length) this.#set(others);
    else if (others.length < MOST) this.#set([...others, { id, weight: 1 }]);
  }

  /** Give a voice of the blend more or less of it. */
  weigh(id, weight) {
    this.#set(this.chosen.map((each) => (each.id === id ? { id, weight } : each)));
  }

  #set(chosen, suited = "") {
    [this.#chosen, this.suited] = [chosen, suited];
    this.dispatchEvent(new Event("change"));
  }
}

/** The language of a voice, in the page's language. */
export const languageOf = ({ language: code }) => LANGUAGES.of(code);

/** A voice's name for people: af_heart is Heart. */
export function titleOf(id) {
  const name = id.replace(/^[a-z]{2}_/, "");
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function written(chosen) {
  return chosen.map(({ id, weight }) => (chosen.length === 1 || weight === 1 ? id : `${id}(${weight})`)).join("+");
}

function parse(spec) {
  const terms = spec.split("+").map((term) => /^([\w-]+)(?:\(([\d.]+)\))?$/.exec(term));
  return terms.every(Boolean) ? terms.map(([, id, weight]) => ({ id, weight: Number(weight ?? 1) })) : [];
}
