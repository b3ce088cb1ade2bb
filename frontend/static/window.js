// What was measured within the last minutes, out of Prometheus' text, whose figures count from the server's start.

const LENGTH = 5 * 60_000;
/* Milliseconds. */

/** Samples without labels by name: all that this page shows has none. */
export function parse(exposition) {
  const samples = new Map();
  for (const line of exposition.split("\n")) {
    const [name, value] = line.split(" ");
    if (name !== "#" && value !== undefined) samples.set(name, Number(value));
  }
  return samples;
}

/** One histogram's or summary's mean over the window. */
export class Window {
  #name;
  #last = null;
  #steps = []; // {time, sum, count}: what came between two looks

  constructor(name) {
    this.#name = name;
  }

  /** Look at a new exposition. What happened before the first look is not known to be recent. */
  look(samples, time = performance.now()) {
    const sum = samples.get(`${this.#name}_sum`);
    const count = samples.get(`${this.#name}_count`);
    const last = this.#last;
    this.#last = { sum, count, time };
    if (last && time - last.time < LENGTH) {
      // Counts that fell are those of a process that was started again.
      const before = count < last.count ? { sum: 0, count: 0 } : last;
      if (count > before.count) this.#steps.push({ time, sum: sum - before.sum, count: count - before.count });
    }
    this.#steps = this.#steps.filter((step) => time - step.time < LENGTH);
  }

  /** How many were measured. */
  get count() {
    return this.#steps.reduce((total, step) => total + step.count, 0);
  }

  /** Of all of them; undefined where there are none. */
  get mean() {
    return this.count ? this.#steps.reduce((total, step) => total + step.sum, 0) / this.count : undefined;
  }

  /** Each step's place in the window, 0 to 1 (now), and mean. */
  points(time = performance.now()) {
    return this.#steps.map((step) => ({ place: 1 - (time - step.time) / LENGTH, value: step.sum / step.count }));
  }
}
