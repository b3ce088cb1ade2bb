import { steerCommand } from "./lib/steer-command";

export default async function Faster() {
  await steerCommand("faster", (state) => `${state.speed}×`);
}
