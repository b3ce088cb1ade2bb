import { steerCommand } from "./lib/steer-command";

export default async function SkipSentence() {
  await steerCommand("skip", (state) => state.sentence ?? "Skipped");
}
