/** Soaks: `npm run chaos -- --runs 200 --seed 1 --minutes 10`. Exit code 1: a promise was broken. */
import process from "node:process";
import { parseArgs } from "node:util";
import { chaos } from "./support/chaos.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "100" },
    abreast: { type: "string", default: "10" },
    minutes: { type: "string" },
    quiet: { type: "boolean", default: false },
  },
});

const until = values.minutes === undefined ? 0 : Date.now() + Number(values.minutes) * 60_000;
let seed = Number(values.seed);
let broken = 0;
do {
  const startedAt = performance.now();
  const report = await chaos({
    seed,
    runs: Number(values.runs),
    abreast: Number(values.abreast),
    note: (line) => {
      if (!values.quiet) process.stderr.write(`${line}\n`);
    },
  });
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  process.stdout.write(
    `seed ${seed}: ${report.completed} of ${values.runs} runs completed in ${seconds} s, ${report.kills} kills, ` +
      `${report.unknownOutcomes} outcomes unknown, ${report.broken.length} promises broken\n`,
  );
  for (const line of report.broken) process.stdout.write(`  ${line}\n`);
  broken += report.broken.length;
  seed++;
} while (Date.now() < until);
process.exit(broken === 0 ? 0 : 1);
