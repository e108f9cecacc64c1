/**
 * Injects faults into the processes of a cluster while they execute runs, and reports the violations:
 *
 *     npm run chaos -- --seed 1 --runs 100          one seed
 *     npm run chaos -- --minutes 30 --seed 1        one seed after another for 30 minutes
 *     npm run chaos -- --all                        seeds 7001 to 7010, 100 runs each
 *     npm run cluster -- --seed 1 --runs 100        over three NATS servers, with faults of servers and routes
 *
 * `--only "kill -9,nats kill"` selects faults by name. `--parallel-faults N` and `--parallel-runs N` bound what happens at
 * the same time. `--quiet` prints one line for each seed, `--own-disks` gives each toolhost its own disk, `--json FILE` writes
 * the reports, and `--logs FOLDER` stores the services' logs. The exit code is 1 if a guarantee was violated.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { natsProgram, whyNoReplicas } from "../support/nats-program.ts";
import { clusterChaos } from "../cluster/support/cluster-chaos.ts";
import { chaos } from "./support/chaos.ts";
import type { ChaosReport } from "./support/report.ts";
import { faultTable, lineOf } from "./support/report.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "100" },
    "parallel-runs": { type: "string", default: "14" },
    "parallel-faults": { type: "string", default: "3" },
    minutes: { type: "string" },
    all: { type: "boolean", default: false },
    quiet: { type: "boolean", default: false },
    json: { type: "string" },
    logs: { type: "string" },
    only: { type: "string" },
    "own-disks": { type: "boolean", default: false },
    cluster: { type: "boolean", default: false },
  },
});

const reason = values.cluster ? whyNoReplicas() : "";
if (reason !== "") {
  process.stderr.write(`${natsProgram()} cannot keep replicas${reason}\n`);
  process.exit(3);
}
const inject = values.cluster ? clusterChaos : chaos;
const listed = Array.from({ length: 10 }, (_, index) => 7_001 + index);
const reports: ChaosReport[] = [];
for (const seed of seeds()) {
  const report = await inject({
    seed,
    runs: Number(values.runs),
    parallelRuns: Number(values["parallel-runs"]),
    parallelFaults: Number(values["parallel-faults"]),
    only: values.only?.split(","),
    ownDisks: values["own-disks"],
    logs: values.logs === undefined ? undefined : join(values.logs, String(seed)),
    note: (line) => {
      if (!values.quiet) process.stderr.write(`${line}\n`);
    },
  });
  reports.push(report);
  process.stdout.write(`${lineOf(report)}\n`);
  for (const line of report.violations) process.stdout.write(`  ${line}\n`);
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(reports, null, 2));
}
process.stdout.write(`\n${faultTable(reports)}\n`);
process.exit(reports.every(({ violations }) => violations.length === 0) ? 0 : 1);

function* seeds(): Iterable<number> {
  if (values.all) return yield* listed;
  const until = performance.now() + Number(values.minutes ?? 0) * 60_000;
  let seed = Number(values.seed);
  do yield seed++;
  while (performance.now() < until);
}
