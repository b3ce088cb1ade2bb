// Edits of a sentence's words: what they make of its score, of its SSML, and of its curve.

export const MOST = { pitch: 12, stretch: 2 };
export const PLAIN = { pitch: 0, stretch: 1, emphasis: false };
const STRONG = { pitch: 2.5, volume: 3, stretch: 1.25 }; // `<emphasis level="strong">`

export const within = (value, most, least = -most) => Math.min(Math.max(value, least), most);
const escaped = (text) => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt()};`);
const signed = (number) => `${number > 0 ? "+" : ""}${number}`;

/** A word's edit with another length, to a twentieth. */
export const lasting = (stretch) => ({ stretch: Math.round(20 * within(stretch, MOST.stretch, 1 / MOST.stretch)) / 20 });

/** A word's edit with another pitch, to half a semitone. */
export const pitched = (pitch) => ({ pitch: Math.round(2 * within(pitch, MOST.pitch)) / 2 });

/** What an edit does to a word. */
export function inflection({ pitch, stretch, emphasis }) {
  const { pitch: higher, volume, stretch: longer } = emphasis ? STRONG : { pitch: 0, volume: 0, stretch: 1 };
  return { pitch: pitch + higher, volume, stretch: stretch * longer };
}

/** Words as they are written, with all that is said in their place. */
export function spokenWords({ segments }) {
  const spoken = [];
  segments.forEach(({ words, phonemes }, segment) => {
    words.forEach(({ word, start, end }, place) => {
      const part = phonemes.slice(start, end);
      if (word || !spoken.length || spoken.at(-1).segment !== segment) spoken.push({ written: word, segment, words: [], phonemes: [] });
      spoken.at(-1).words.push(place);
      spoken.at(-1).phonemes.push(...part);
    });
  });
  for (const each of spoken) each.seconds = each.phonemes.reduce((total, { duration }) => total + duration, 0);
  return spoken;
}

/** Where a word's pitch goes: {at: part of its time, octave, begins: after a sound without voice}. */
export function curve(phonemes, semitones) {
  const total = phonemes.reduce((sum, { duration }) => sum + duration, 0);
  const points = [];
  let [time, begins] = [0, true];
  for (const { duration, pitch = [] } of phonemes) {
    pitch.forEach((hertz, place) => {
      if (hertz) points.push({ at: (time + (duration * (place + 0.5)) / pitch.length) / total, octave: Math.log2(hertz) + semitones / 12, begins });
      begins = !hertz;
    });
    time += duration;
  }
  return points;
}

/** The score with the edits, as a speech request takes it. */
export function edited(score, spoken, edits) {
  const { version, segments } = structuredClone(score);
  for (const segment of segments) segment.phonemes = segment.phonemes.map(({ phoneme }) => ({ phoneme }));
  spoken.forEach(({ segment, words }, number) => {
    const { pitch, volume, stretch } = inflection(edits[number]);
    if (!pitch && !volume && stretch === 1) return;
    for (const place of words) {
      const own = (segments[segment].words[place].inflection ??= {});
      own.pitch = within((own.pitch ?? 0) + pitch, MOST.pitch);
      own.volume = Math.min((own.volume ?? 0) + volume, 12);
      own.stretch = (own.stretch ?? 1) * stretch;
    }
  });
  return { version, segments };
}

/** The sentence with the edits as SSML. */
export function ssml(text, spoken, edits) {
  let [rest, made] = [text, ""];
  spoken.forEach(({ written }, number) => {
    const at = rest.indexOf(written);
    if (at < 0) return;
    const { pitch, stretch, emphasis } = edits[number];
    const values = [pitch && `pitch="${signed(pitch)}st"`, stretch !== 1 && `rate="${Math.round(100 / stretch)}%"`].filter(Boolean);
    let word = escaped(written);
    if (emphasis) word = `<emphasis level="strong">${word}</emphasis>`;
    if (values.length) word = `<prosody ${values.join(" ")}>${word}</prosody>`;
    made += escaped(rest.slice(0, at)) + word;
    rest = rest.slice(at + written.length);
  });
  return `<speak>${made}${escaped(rest)}</speak>\n`;
}
