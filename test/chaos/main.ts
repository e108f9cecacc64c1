/**
 * Harms the processes of a cluster while they carry out runs, and says what came of it:
 *
 *     npm run chaos -- --seed 1 --runs 100          one seed
 *     npm run chaos -- --minutes 30 --seed 1        seed after seed, for a while
 *     npm run chaos -- --all                        the ten seeds from 7001 on, a hundred runs each
 *
 * `--only "kill -9,nats kill"` narrows what is done, `--hands N` says how much of it at a time. `--quiet` prints a line for
 * each seed, `--disks` gives each toolhost a disk of its own, `--json FILE` keeps the reports, `--logs FOLDER` what the services say. Exit code 1: a promise was broken.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { chaos } from "./support/chaos.ts";
import type { ChaosReport } from "./support/report.ts";
import { harmTable, lineOf } from "./support/report.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "100" },
    abreast: { type: "string", default: "14" },
    hands: { type: "string", default: "3" },
    minutes: { type: "string" },
    all: { type: "boolean", default: false },
    quiet: { type: "boolean", default: false },
    json: { type: "string" },
    logs: { type: "string" },
    only: { type: "string" },
    disks: { type: "boolean", default: false },
  },
});

const listed = Array.from({ length: 10 }, (_, index) => 7_001 + index);
const reports: ChaosReport[] = [];
for (const seed of seeds()) {
  const report = await chaos({
    seed,
    runs: Number(values.runs),
    abreast: Number(values.abreast),
    hands: Number(values.hands),
    only: values.only?.split(","),
    ownDisks: values.disks,
    logs: values.logs === undefined ? undefined : join(values.logs, String(seed)),
    note: (line) => {
      if (!values.quiet) process.stderr.write(`${line}\n`);
    },
  });
  reports.push(report);
  process.stdout.write(`${lineOf(report)}\n`);
  for (const line of report.broken) process.stdout.write(`  ${line}\n`);
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(reports, null, 2));
}
process.stdout.write(`\n${harmTable(reports)}\n`);
process.exit(reports.every(({ broken }) => broken.length === 0) ? 0 : 1);

function* seeds(): Iterable<number> {
  if (values.all) return yield* listed;
  const until = performance.now() + Number(values.minutes ?? 0) * 60_000;
  let seed = Number(values.seed);
  do yield seed++;
  while (performance.now() < until);
}
