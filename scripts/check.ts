/** The quick gate: `npm run check`. Runs everything that needs no server, side by side, and says what failed. */
import { spawn } from "node:child_process";
import process from "node:process";

/** What is checked. Lines of one group run one after the other, groups side by side. */
const groups: readonly (readonly (readonly [string, string])[])[] = [
  [
    [
      "contracts",
      "node scripts/generate.ts --check && node scripts/generate-sdks.ts --check java && buf lint && node scripts/breaking.ts",
    ],
    [
      "format",
      "prettier --check --cache --log-level warn . && buf format -d --exit-code --path proto/reeve",
    ],
    ["lint", "oxlint --type-aware packages services cli sdk/typescript/src test bench scripts"],
    ["dead code", "knip --no-progress"],
  ],
  [
    ["types", "tsc --noEmit"],
    ["unit tests", "vitest run --project unit --reporter=dot"],
  ],
];

const startedAt = performance.now();
const failed = (await Promise.all(groups.map(runGroup))).flat();
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
if (failed.length > 0) {
  console.error(`\ncheck failed in ${seconds} s: ${failed.join(", ")}`);
  process.exit(1);
}
console.log(`\ncheck passed in ${seconds} s`);

async function runGroup(group: readonly (readonly [string, string])[]): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const [name, command] of group) {
    const { code, output, ms } = await run(command);
    console.log(`${code === 0 ? "ok  " : "FAIL"} ${name.padEnd(12)} ${(ms / 1000).toFixed(1)} s`);
    if (code !== 0) {
      console.error(output);
      failed.push(name);
    }
  }
  return failed;
}

function run(command: string): Promise<{ code: number; output: string; ms: number }> {
  const { promise, resolve } = Promise.withResolvers<{
    code: number;
    output: string;
    ms: number;
  }>();
  const startedAt = performance.now();
  const path = `${process.cwd()}/node_modules/.bin:${process.env["PATH"] ?? ""}`;
  const child = spawn("sh", ["-c", command], { env: { ...process.env, PATH: path } });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.on("close", (code) =>
    resolve({ code: code ?? 1, output, ms: performance.now() - startedAt }),
  );
  return promise;
}
