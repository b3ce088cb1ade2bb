// The server's own figures, looked at while their tab is seen.

import { advice, figures, streams } from "./figures.js";
import { Look } from "./look.js";
import { Window, parse } from "./window.js";

const $ = (id) => document.getElementById(id);

/** Fill the tab's panel, once. */
export function mountLive(panel) {
  const [figures, streams, advice, all] = ["figures", "streams", "advice", "all"].map($);
  return new Live({ figures, streams, advice, all, panel, trouble: $("live-trouble"), allBox: $("all-box") });
}

class Live {
  #elements;
  #look;
  #windows = {
    firstAudio: new Window("kokoro_live_time_to_first_audio_seconds"),
    realTime: new Window("kokoro_live_real_time_factor"),
  };

  /** @param elements {panel, trouble, figures, streams, advice, all, allBox} */
  constructor(elements) {
    this.#elements = elements;
    const shown = (status, metrics) => this.#show(status, parse(metrics));
    const lost = () => {
      elements.figures.replaceChildren();
      elements.streams.hidden = elements.advice.hidden = true;
    };
    this.#look = new Look(elements.panel, elements.trouble, ["status", "metrics"], shown, lost);
    elements.allBox.addEventListener("toggle", () => this.restart());
  }

  /** Look now: something has changed. */
  restart() {
    this.#look.restart();
  }

  #show(status, samples) {
    for (const window of Object.values(this.#windows)) window.look(samples);
    figures(this.#elements.figures, status, this.#windows);
    streams(this.#elements.streams, status.streams);
    advice(this.#elements.advice, status.recommendations);
    if (this.#elements.allBox.open) this.#elements.all.textContent = JSON.stringify(status, null, 2);
  }
}
