// The speech of a text from a place on: what is held from before, the rest from the server, line by line.

import { Assembly } from "./assembly.js";
import { askForSpeech, speech } from "./events.js";
import { SAMPLE_RATE } from "./player.js";
import { usual } from "./settings.js";

const PAUSES = { line: 0.43, paragraph: 0.7 };
/* Seconds of silence after a line and a paragraph at speed 1, as the server makes them inside one text. */

const STILL = 64; // of 32,768: what is quieter is silence

/** What speech with a voice and a speed is held by. */
export const keyOf = ({ voice, speed }) => `${speed} ${voice ?? ""}`;

/**
 * @param {Text} text
 * @param {{line: number, offset: number}} place
 * @param {{voice?: string, speed: number}} how
 * @param {Clips} clips what is held, and where new speech is kept
 * @yields {{engine: string} | {samples: Int16Array, sample: number}
 *   | {marks: {kind: "sentence" | "word", line: number, from: number, to: number, sample: number}[]}} samples are
 *   counted from the feed's beginning; marks precede the samples at which they stand
 * @throws {ApiError} or DOMException "AbortError"
 */
export async function* feed(text, place, how, clips, signal) {
  let sent = 0;
  let last = new Int16Array(0);
  for (let { line, offset } = place; await text.has(line); line += 1, offset = 0) {
    const { text: written, last: ends } = text.lines[line];
    while (offset < written.length) {
      const held = clips.find(keyOf(how), { line, offset });
      const base = sent;
      for await (const part of held ? replay(held) : fetched(written, { line, offset }, how, clips, signal)) {
        if (part.marks) yield { marks: part.marks.map((mark) => ({ ...mark, line, sample: base + mark.sample })) };
        else if ("engine" in part) yield part;
        else {
          yield { samples: part.samples, sample: sent };
          sent += part.samples.length;
          last = part.samples;
        }
      }
      offset = held ? held.clip.to : written.length;
    }
    const pause = Math.round(((ends ? PAUSES.paragraph : PAUSES.line) / (how.speed ?? usual.speed)) * SAMPLE_RATE) - silence(last);
    if (pause > 0 && !(text.whole && line + 1 === text.lines.length)) {
      yield { samples: new Int16Array(pause), sample: sent };
      sent += pause;
    }
  }
}

function* replay({ clip, sample, offset }) {
  const words = clip.words.filter((word) => word.sample >= sample);
  yield {
    marks: [
      { kind: "sentence", from: offset, to: clip.to, sample: 0 },
      ...words.map((word) => ({ kind: "word", ...word, sample: word.sample - sample })),
    ],
  };
  let passed = 0;
  for (const piece of clip.pieces) {
    const rest = piece.subarray(Math.max(0, sample - passed));
    passed += piece.length;
    if (rest.length) yield { samples: rest };
  }
}

async function* fetched(written, { line, offset }, { voice, speed }, clips, signal) {
  const response = await askForSpeech({ input: written.slice(offset), voice, speed }, signal);
  yield { engine: response.headers.get("X-Engine") };
  const assembly = new Assembly(clips, { key: keyOf({ voice, speed }), line, from: offset }, written);
  for await (const { sentence, words, samples } of speech(response)) {
    if (sentence) yield { marks: assembly.sentence(sentence) };
    else if (words) yield { marks: assembly.words(words) };
    else {
      assembly.samples(samples);
      yield { samples };
    }
  }
  assembly.finish();
}

function silence(samples) {
  return samples.length - 1 - samples.findLastIndex((sample) => Math.abs(sample) > STILL);
}
