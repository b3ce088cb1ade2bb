import { speak } from "../lib/player";

type Input = {
  /** The text to speak, as plain sentences without Markdown. */
  text: string;
  /** A name for the text, shown while it is spoken. */
  title?: string;
  /** A voice such as af_heart or bf_emma. Leave it out unless the user asks for a voice. */
  voice?: string;
};

/** Speak a text aloud, after those that are being spoken. A failure is told to the model as an error. */
export default async function tool(input: Input) {
  const { position_in_queue } = await speak({
    input: input.text,
    title: input.title,
    voice: input.voice,
    on_busy: "queue",
  });
  return position_in_queue
    ? `The text will be spoken after ${position_in_queue} other(s).`
    : "The text is being spoken.";
}
