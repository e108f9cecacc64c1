/** The fast gate: `npm run check`. Runs every check that needs no server, and reports each one that failed. */
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import process from "node:process";

interface Check {
  readonly name: string;
  readonly command: string;
}

const sources = "packages services cli console sdk/typescript/src test bench scripts";

/** The unit tests that take a fifth of a second or more each: they try many inputs, wait, or start other programs. `npm test` runs them. */
const slowTests = [
  "cli/src/run-cli.test.ts",
  "cli/src/demo/play-demo.test.ts",
  "packages/agent/src/policy/policy-{file,properties}.test.ts",
  "packages/agent/src/schema/compile-cost.test.ts",
  "packages/agent/src/spec/{check-spec,spec-file}.test.ts",
  "packages/agent/src/text/count-tokens.test.ts",
  "packages/calls/src/execute/execute-call.test.ts",
  "packages/calls/src/results/offload-result.test.ts",
  "packages/engine/src/domain/plugins/plugin-world.test.ts",
  "packages/engine/src/domain/schema/validate-arguments.test.ts",
  "packages/engine/src/domain/subtasks/{aggregate-results,spawn-subtasks}.test.ts",
  "packages/engine/src/domain/{fold,histories,world}.test.ts",
  "packages/engine/src/drive/{claim-run,drive-run,full-store,oversized,plan-and-subtasks,provider-outage,waiting-runs}.test.ts",
  "packages/engine/src/perform/{policy,recorded-digests,review-call,sent-requests}.test.ts",
  "packages/engine/src/perform/guardrails/{guards,tool-guards}.test.ts",
  "packages/engine/src/perform/plugins/{hook-bounds,hook-order,run-hook}.test.ts",
  "packages/engine/src/verify/verify-run-log.test.ts",
  "packages/jetstream/src/local-index/table-index.test.ts",
  "packages/jetstream/src/log/memory.test.ts",
  "packages/jetstream/src/queue/{memory,lanes/lane-taker}.test.ts",
  "packages/jetstream/src/streams/ensure-{bucket,consumer}.test.ts",
  "packages/jetstream/src/table/{live-view,page}.test.ts",
  "packages/local/src/decide-approvals.test.ts",
  "packages/memory/src/rank-memories.test.ts",
  "packages/platform/src/async/{for-each,retry/outlast-outage}.test.ts",
  "packages/platform/src/process/keep-compiled-modules.test.ts",
  "packages/platform/src/telemetry/redaction/steady-stream.test.ts",
  "packages/plugin/src/host/{package-plugin,plugin-registry,plugin-thread}.test.ts",
  "packages/run/src/policy/watch-policy.test.ts",
  "packages/run/src/thread/history/fit-history.test.ts",
  "packages/run/src/thread/{settle-thread,thread-head}.test.ts",
  "packages/sandbox/src/docker/driver.test.ts",
  "packages/sandbox/src/lifecycle/spare-sandboxes.test.ts",
  "scripts/testing/vitest-tally.test.ts",
  "sdk/typescript/src/tools/executions.test.ts",
  "sdk/typescript/src/watch/{approval-watch,watch}.test.ts",
  "services/approvals/src/app/expire-approvals.test.ts",
  "services/approvals/src/app/inbox/{search-approvals,watch-approvals}.test.ts",
  "services/approvals/src/app/outage.test.ts",
  "services/approvals/src/app/passkeys/confirmations.test.ts",
  "services/approvals/src/notify/deliver-notifications.test.ts",
  "services/approvals/src/notify/send/{http-sender,smtp-sender}.test.ts",
  "services/gateway/src/app/runs/run-filter.test.ts",
  "services/gateway/src/audit/effects-of-calls.test.ts",
  "services/gateway/src/app/sweep/sweep-runs.test.ts",
  "services/gateway/src/app/threads/list-thread-messages.test.ts",
  "services/gateway/src/app/watch/start-watch.test.ts",
  "services/gateway/src/auth/watch-token-file.test.ts",
  "services/gateway/src/projections/run-index.test.ts",
  "services/toolhost/src/workspaces/workspace-{handover,keeper}.test.ts",
  "test/unit/protocol/**",
  "test/unit/{compose-keys,openapi}.test.ts",
];
const misnamed = slowTests.filter((pattern) => globSync(pattern).length === 0);
if (misnamed.length > 0) throw new Error(`no test file matches ${misnamed.join(", ")}`);
const withoutSlowTests = slowTests.map((each) => `--exclude "${each}"`).join(" ");

/** `npm test` runs the unit tests together with the system tests, and leaves them out here. It has time for the compiler itself. */
const isFast = !process.argv.includes("--no-tests");

/** Lets a program in Go collect garbage only above 4 GiB: the linter needs three of them, and a fifth of its time is spent on collecting. */
const rarelyCollect = "GOGC=off GOMEMLIMIT=4GiB";

/** Checks of one lane run one after the other, lanes side by side. */
const lanes: readonly (readonly Check[])[] = [
  [
    {
      name: "unit tests",
      // One worker loads each module once; the other processor has the checks of the other lane. Node reads TypeScript itself,
      // which saves a third of the time of the first run.
      command: `vitest run --project unit --maxWorkers=1 --reporter=dot --experimental.viteModuleRunner=false ${withoutSlowTests}`,
    },
  ],
  [
    {
      name: "format",
      command: "oxfmt --check . && buf format -d --exit-code --path proto/reeve",
    },
    { name: "lockfile", command: "npm ci --dry-run --ignore-scripts --offline" },
    // The linter has the program of the compiler, so it finds the errors of types in half of the time of both.
    ...(isFast
      ? [
          {
            name: "types and lint",
            command: `${rarelyCollect} oxlint --type-aware --type-check ${sources}`,
          },
        ]
      : [
          { name: "types", command: "tsc --noEmit && tsc --noEmit --project console" },
          { name: "lint", command: `oxlint --type-aware ${sources}` },
        ]),
    {
      name: "contracts",
      command:
        "node scripts/generate.ts --check && node scripts/generate-sdks.ts --check java && buf lint && node scripts/breaking.ts",
    },
    { name: "dead code", command: "knip --no-progress" },
  ],
];

const startedAt = performance.now();
const failed = (await Promise.all(lanes.map(runLane))).flat();
if (failed.length > 0) {
  console.error(`\ncheck failed in ${secondsSince(startedAt)}: ${failed.join(", ")}`);
  process.exit(1);
}
console.log(`\ncheck passed in ${secondsSince(startedAt)}`);

/** Returns the names of the checks that failed. */
async function runLane(lane: readonly Check[]): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const { name, command } of lane.filter((check) => isFast || check.name !== "unit tests")) {
    const startedAt = performance.now();
    const { code, output } = await run(command);
    console.log(`${code === 0 ? "ok  " : "FAIL"} ${name.padEnd(10)} ${secondsSince(startedAt)}`);
    if (code === 0) continue;
    console.error(output);
    failed.push(name);
  }
  return failed;
}

function run(command: string): Promise<{ code: number; output: string }> {
  const { promise, resolve } = Promise.withResolvers<{ code: number; output: string }>();
  const path = `${process.cwd()}/node_modules/.bin:${process.env["PATH"] ?? ""}`;
  const child = spawn("sh", ["-c", command], { env: { ...process.env, PATH: path } });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.on("close", (code) => resolve({ code: code ?? 1, output }));
  return promise;
}

function secondsSince(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}
