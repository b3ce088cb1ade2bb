// Larger steps through a text: some seconds, and paragraphs.

/** Go on or back by about so many seconds of speech. @param {Reader} reader */
export function skip(reader, seconds) {
  const { text, place, pump, how } = reader;
  if (!text?.lines.length) return;
  const wanted = Math.max(0, text.before(place) + seconds * pump.pace(how));
  const line = Math.max(0, text.lines.findLastIndex((_, number) => text.before({ line: number, offset: 0 }) <= wanted));
  const written = text.lines[line].text;
  const at = Math.min(Math.round(wanted) - text.before({ line, offset: 0 }), written.length - 1);
  // A space before that place belongs to the word before it: where none was found the line's beginning was taken.
  const start = written.slice(0, at).search(/\S+\s*$/);
  reader.seek({ line, offset: start < 0 ? 0 : start });
}

/** Go to the next (1) or to the last (-1) paragraph's beginning. @param {Reader} reader */
export function paragraph(reader, step) {
  const { text, place } = reader;
  const number = text?.lines[place.line]?.paragraph;
  const wanted = text?.paragraphs[number + step];
  if (wanted) reader.seek({ line: wanted.lines[0], offset: 0 });
}
