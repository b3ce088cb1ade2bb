import { steerCommand } from "./lib/steer-command";

export default async function Stop() {
  await steerCommand("stop", () => "Stopped");
}
