// Speech from the server on the audio clock: paragraphs, one request each, ten seconds ahead of what sounds.

import { ask } from "./settings.js";

const RATE = 24_000;
const AHEAD = 10; // seconds of sound that are ready

/** One reading at a time. Its `tell` is called with {sentence: [paragraph, from, to]} when one begins to sound, {state} and {error}. */
export class Player {
  #tell;
  #context = null;
  #stop = new AbortController();

  constructor(tell) {
    this.#tell = tell;
  }

  /** @param {string[]} paragraphs @param how settings @param {number[]} from the paragraph, and the character in it, at which it begins */
  async read(paragraphs, how, [first, offset] = [0, 0]) {
    this.#stop.abort();
    const stop = (this.#stop = new AbortController());
    const context = (this.#context = new AudioContext({ sampleRate: RATE }));
    await context.resume();
    this.#tell({ state: "playing" });
    const line = new Line(context, (sentence) => this.#tell({ sentence }));
    try {
      for (let number = first; number < paragraphs.length; number += 1) {
        await speak(line, number, paragraphs[number], number === first ? offset : 0, how, stop.signal);
      }
      await line.until(0, stop.signal);
      this.#tell({ state: "idle" });
    } catch (error) {
      if (!stop.signal.aborted) this.#tell({ state: "idle", error: error.message });
    } finally {
      line.end();
      await context.close();
    }
  }

  /** Pause, or go on. */
  async toggle() {
    const context = this.#context;
    if (!context || context.state === "closed") return;
    const runs = context.state === "running";
    await (runs ? context.suspend() : context.resume());
    this.#tell({ state: runs ? "paused" : "playing" });
  }

  stop() {
    this.#stop.abort();
    this.#tell({ state: "idle" });
  }
}

/** @param {Player} player @param what {read: paragraphs, how: settings, from: place}, {toggle} or {stop} */
export function steer(player, { read, how, from, toggle, stop }) {
  if (read) player.read(read, how, from);
  if (toggle) player.toggle();
  if (stop) player.stop();
}

/** Samples one after the other, and sentences that begin at some of them. */
class Line {
  #context;
  #end; // when the last sample has sounded, in the context's seconds
  #begins = []; // {at, sentence}
  #timer;

  constructor(context, began) {
    this.#context = context;
    this.#end = context.currentTime + 0.05;
    this.#timer = setInterval(() => {
      while (this.#begins[0]?.at <= context.currentTime) began(this.#begins.shift().sentence);
    }, 40);
  }

  /** Where the next samples begin. */
  get place() {
    this.#end = Math.max(this.#end, this.#context.currentTime);
    return this.#end;
  }

  begins(at, sentence) {
    this.#begins.push({ at, sentence });
  }

  add(samples) {
    const sound = this.#context.createBuffer(1, samples.length, RATE);
    sound.copyToChannel(Float32Array.from(samples, (sample) => sample / 32768), 0);
    const source = new AudioBufferSourceNode(this.#context, { buffer: sound });
    source.connect(this.#context.destination);
    const at = this.place;
    source.start(at);
    this.#end = at + sound.duration;
  }

  /** Resolves when no more than so many seconds are ready. */
  async until(seconds, signal) {
    while (this.#end - this.#context.currentTime > seconds) {
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    signal.throwIfAborted();
  }

  end() {
    clearInterval(this.#timer);
  }
}

async function speak(line, number, text, offset, { voice, speed, ...server }, signal) {
  const body = { input: text.slice(offset), ...(voice && { voice }), ...(speed && { speed }), response_format: "pcm", stream_format: "sse", timestamps: "sentence" };
  const start = { at: 0, begun: false };
  let from = offset;
  for await (const event of events(await patiently(server, body, signal))) {
    if (event.type === "error") throw new Error(event.error.message);
    if (!start.begun) Object.assign(start, { begun: true, at: line.place });
    if (event.type === "speech.audio.sentence") {
      from = Math.max(from, text.indexOf(event.text, from));
      line.begins(start.at + event.sample / RATE, [number, from, from + event.text.length]);
    } else if (event.type === "speech.audio.delta") {
      line.add(new Int16Array(Uint8Array.from(atob(event.audio), (each) => each.charCodeAt(0)).buffer));
      await line.until(AHEAD, signal);
    }
  }
}

/** Speech; a server that serves others first is asked again when it says. */
async function patiently(server, body, signal) {
  for (;;) {
    try {
      return await ask(server, "v1/audio/speech", body, signal);
    } catch (error) {
      if (![429, 503].includes(error.status) || !error.wait) throw error;
      await new Promise((resolve) => setTimeout(resolve, error.wait * 1000));
      signal.throwIfAborted();
    }
  }
}

/** The JSON of server-sent events. */
async function* events({ body }) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const data = part.split("\n").filter((each) => each.startsWith("data: "));
      yield JSON.parse(data.map((each) => each.slice(6)).join("\n"));
    }
  }
}
