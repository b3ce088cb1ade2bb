// The words of a melody as buttons with their pieces of the curve, and how one is drawn up or longer.

import { made } from "./made.js";
import { curve, inflection, lasting, pitched } from "./melody_edits.js";

const SEMITONE = 5; // pixels
const SECOND = 220; // pixels
const SLACK = 5; // pixels that a click may move

/** A word's button. */
export function column({ written }) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.ariaHidden = "true";
  svg.append(document.createElementNS("http://www.w3.org/2000/svg", "path"));
  const button = made("button", { type: "button" }, svg, made("span", { textContent: written }), " ", made("small"));
  button.setAttribute("aria-describedby", "melody-hint");
  return button;
}

/** Draw words with their edits into their buttons. */
export function draw(buttons, spoken, edits) {
  const heights = spoken.flatMap(({ phonemes }) => curve(phonemes, 0).map(({ octave }) => octave)).sort((one, other) => one - other);
  const middle = heights[heights.length >> 1] ?? 0;
  const [low, high] = [Math.max(heights[0] - 0.2, middle - 0.8), Math.min(heights.at(-1) + 0.3, middle + 0.8)];
  const height = ((high - low) * 12 || 1) * SEMITONE;
  spoken.forEach(({ phonemes, seconds }, number) => {
    const [button, edit] = [buttons[number], edits[number]];
    const { pitch, stretch } = inflection(edit);
    button.ariaPressed = String(edit.emphasis);
    button.style.width = `${Math.round(seconds * stretch * SECOND)}px`;
    const svg = button.querySelector("svg");
    svg.setAttribute("viewBox", `0 0 1 ${height}`);
    svg.style.height = `${height}px`;
    let line = false;
    const steps = curve(phonemes, pitch).map(({ at, octave, begins }) => {
      const creaks = octave - pitch / 12 < low; // where the voice dies away
      const sign = creaks ? "" : begins || !line ? "M" : "L";
      line = !creaks;
      return sign && `${sign}${at.toFixed(4)} ${((high - octave) * 12 * SEMITONE).toFixed(1)}`;
    });
    svg.firstElementChild.setAttribute("d", steps.join(""));
    const told = [edit.pitch && `${edit.pitch > 0 ? "+" : "−"}${Math.abs(edit.pitch)}`, edit.stretch !== 1 && `${Math.round(100 * edit.stretch)} %`];
    button.querySelector("small").textContent = told.filter(Boolean).join(" · ");
  });
}

/** What a key does to a word's edit, or null. */
export function keyed({ key, shiftKey }, { pitch, stretch }) {
  const step = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }[key];
  if (key === "ArrowUp" || key === "ArrowDown") return pitched(pitch + step);
  return step && shiftKey ? lasting(stretch + step / 10) : null;
}

/**
 * Follow a pointer over a word: up and down is the pitch, to the sides the length, whichever it does first.
 * @param {PointerEvent} begun
 * @param {{pitch: number, stretch: number}} edit of the word
 * @param on {moved: called with the change so far, ended: with the whole one, or null if it was given up}
 */
export function drag(button, begun, { pitch, stretch }, on) {
  const { width } = button.getBoundingClientRect();
  const watching = new AbortController();
  let [upwards, change] = [false, null];
  const move = ({ clientX, clientY }) => {
    const [right, up] = [clientX - begun.clientX, begun.clientY - clientY];
    if (!change && Math.max(Math.abs(right), Math.abs(up)) < SLACK) return;
    if (!change) upwards = Math.abs(up) > Math.abs(right);
    change = upwards ? pitched(pitch + up / SEMITONE) : lasting((stretch * (width + right)) / width);
    on.moved(change);
  };
  const end = ({ type }) => {
    watching.abort();
    if (change) on.ended(type === "pointerup" ? change : null);
  };
  button.setPointerCapture(begun.pointerId);
  for (const [name, act] of Object.entries({ pointermove: move, pointerup: end, pointercancel: end })) {
    button.addEventListener(name, act, { signal: watching.signal });
  }
}
