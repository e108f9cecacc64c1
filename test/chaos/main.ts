/**
 * Injects faults into the processes of a cluster while they execute runs, and reports the violations:
 *
 *     npm run chaos -- --seed 1 --runs 100          one seed
 *     npm run chaos -- --seed 1 --seeds 5           five seeds, one after another
 *     npm run chaos -- --seed 1 --minutes 30        one seed after another for 30 minutes
 *     npm run chaos -- --all                        seeds 7001 to 7010, 100 runs each
 *     REEVE_TEMPORAL=1 npm run chaos -- --temporal  with Temporal as the executor, which is killed as well
 *     npm run cluster -- --all                      over three NATS servers, with faults of servers and routes
 *
 * `--only "kill -9,nats kill"` selects faults by name. `--parallel-faults N` and `--parallel-runs N` bound what happens at
 * the same time. `--quiet` prints one line for each seed, `--own-disks` gives each toolhost its own disk, `--json FILE` writes
 * the reports, and `--logs FOLDER` stores the services' logs. `--lazy` lets servers acknowledge before they write to disk, so that
 * a loss of power breaks guarantees. Prints the results of all seeds as Markdown. The exit code is 1 if
 * a guarantee was violated, or a seed could not be completed.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { natsProgram, whyNoReplicas } from "../support/nats-program.ts";
import { clusterChaos } from "../cluster/support/cluster-chaos.ts";
import type { ChaosOptions } from "./support/chaos.ts";
import { chaos } from "./support/chaos.ts";
import { temporalChaos } from "./temporal-chaos.ts";
import { guaranteeTable } from "./report/guarantees.ts";
import type { ChaosReport } from "./report/report.ts";
import { faultTable, lineOf, seedTable } from "./report/report.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "100" },
    "parallel-runs": { type: "string", default: "14" },
    "parallel-faults": { type: "string", default: "3" },
    seeds: { type: "string", default: "1" },
    minutes: { type: "string" },
    all: { type: "boolean", default: false },
    quiet: { type: "boolean", default: false },
    json: { type: "string" },
    logs: { type: "string" },
    only: { type: "string" },
    "own-disks": { type: "boolean", default: false },
    cluster: { type: "boolean", default: false },
    temporal: { type: "boolean", default: false },
    lazy: { type: "boolean", default: false },
  },
});

const reason = values.cluster ? whyNoReplicas() : "";
if (reason !== "") {
  process.stderr.write(`${natsProgram()} cannot keep replicas${reason}\n`);
  process.exit(3);
}
const inject = (options: ChaosOptions) =>
  values.cluster
    ? clusterChaos({ ...options, syncAlways: !values.lazy })
    : values.temporal
      ? temporalChaos(options)
      : chaos(options);
const listed = Array.from({ length: 10 }, (_, index) => 7_001 + index);
const reports: ChaosReport[] = [];
const failed: number[] = [];
for (const seed of seeds()) {
  try {
    reports.push(await reportOf(seed));
  } catch (error) {
    // The other seeds are independent of it.
    failed.push(seed);
    process.stdout.write(`seed ${seed} was not completed: ${String(error)}\n`);
  }
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(reports, null, 2));
}
const tables = [seedTable(reports), faultTable(reports), guaranteeTable(reports)];
process.stdout.write(`\n${tables.join("\n\n")}\n`);
const areKept = reports.every(({ violations }) => violations.length === 0);
process.exit(areKept && failed.length === 0 ? 0 : 1);

async function reportOf(seed: number): Promise<ChaosReport> {
  const report = await inject({
    seed,
    runs: Number(values.runs),
    parallelRuns: Number(values["parallel-runs"]),
    parallelFaults: Number(values["parallel-faults"]),
    patienceMs: 240_000,
    only: values.only?.split(","),
    ownDisks: values["own-disks"],
    logs: values.logs === undefined ? undefined : join(values.logs, String(seed)),
    note: (line) => {
      if (!values.quiet) process.stderr.write(`${line}\n`);
    },
  });
  process.stdout.write(`${lineOf(report)}\n`);
  for (const line of report.violations) process.stdout.write(`  ${line}\n`);
  return report;
}

function* seeds(): Iterable<number> {
  if (values.all) return yield* listed;
  const until = performance.now() + Number(values.minutes ?? 0) * 60_000;
  const first = Number(values.seed);
  const end = first + Number(values.seeds);
  for (let seed = first; seed < end || performance.now() < until; seed++) yield seed;
}
