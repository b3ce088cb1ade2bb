// Bundles tests/press.tsx with the stand-in for @raycast/api: `node tests/build.mjs`.
import { build } from "esbuild";

await build({
  entryPoints: ["tests/press.tsx"],
  alias: { "@raycast/api": "./tests/fake-api.tsx" },
  bundle: true,
  platform: "node",
  jsx: "automatic",
  outfile: "dist/press.cjs",
});
