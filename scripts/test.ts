/**
 * All tests: `npm test [-- FILTER…]`. Runs the checks of the fast gate and every suite, whatever fails, and prints
 * `N passed, N failed, N skipped` as its last line; failed checks count as one failed test. With `--nightly` the
 * suites that restart processes run repeatedly: `npm run nightly`. Exits with 0 only if nothing failed.
 */
import { spawn, spawnSync } from "node:child_process";
import { dirname } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { startVitest } from "vitest/node";
import { memoryFolder } from "./testing/memory-folder.ts";
import { compileTestedPrograms } from "./programs/compile-tested-programs.ts";
import { renderTally, TallyReporter } from "./testing/vitest-tally.ts";

const root = dirname(import.meta.dirname);
/** Suites whose failures depend on the moment at which a process dies. */
const restartSuites = [
  "test/system/nats-loss",
  "test/system/reconnects",
  "test/system/rolling-restart",
  "test/system/runtime-loss",
  "test/system/toolhost-loss",
  "services/approvals/test/restart",
];
const nightlyRepeats = 5;
const vitest = "node_modules/vitest/vitest.mjs";

const { values: options, positionals: filters } = parseArgs({
  options: { nightly: { type: "boolean", default: false } },
  allowPositionals: true,
});
if (options.nightly) process.env["REEVE_SEED"] ??= "random";
// The stores of the components are short-lived. On a disk, they are a tenth of the time that their tests take.
const memory = process.env["TMPDIR"] ?? memoryFolder();
if (memory !== undefined) process.env["REEVE_COMPONENT_TMPDIR"] = memory;
// Before the suites, of which several start servers at once. The checks do not need it, and leave a processor idle for much of their time.
const preparing = prepare();
let failedSteps = (await run(["scripts/check.ts", "--no-tests"])) ? 0 : 1;
const compiled = await preparing;
if (compiled === undefined) failedSteps++;
else process.env["COMPILED_PROGRAMS"] = compiled;
const reporter = new TallyReporter();
if (!(await runTests(reporter, filters))) failedSteps++;
if (options.nightly) failedSteps += await runNightlySteps();

const tally = { ...reporter.tally, failed: reporter.tally.failed + failedSteps };
process.exitCode = tally.failed > 0 ? 1 : 0;
console.log(renderTally(tally));
// A handle that vitest left open must not keep this process alive.
process.exit();

/** Prepares what the suites share: the image of sandboxes, the console, and the programs, whose folder it returns. */
async function prepare(): Promise<string | undefined> {
  await ensureSandboxImage();
  await run(["scripts/build-console.ts"]);
  return await compileTestedPrograms().catch((error: unknown) => {
    console.error("the programs were not bundled:", error);
    return undefined;
  });
}

/**
 * Runs the test files whose paths contain one of `filters`, or all without a filter. Returns false if the run itself broke,
 * or found no test.
 */
async function runTests(reporter: TallyReporter, filters: readonly string[]): Promise<boolean> {
  try {
    const reporters = ["default", reporter];
    const vitest = await startVitest([...filters], { root, run: true, watch: false, reporters });
    await vitest.close();
  } catch (error) {
    console.error("vitest did not run:", error);
    return false;
  }
  const { passed, failed, skipped } = reporter.tally;
  return passed + failed + skipped > 0;
}

/** Repeats the restart suites, runs all seeds of the chaos test, and the benchmarks. Returns how many of these steps failed. */
async function runNightlySteps(): Promise<number> {
  const steps = [
    ...Array.from({ length: nightlyRepeats }, () => [vitest, "run", ...restartSuites]),
    ["test/chaos/main.ts", "--all", "--quiet"],
    ["bench/main.ts"],
  ];
  let failed = 0;
  for (const step of steps) {
    if (!(await run(step))) failed++;
  }
  return failed;
}

/** Builds the image of Docker sandboxes if an engine is named that lacks it. If that fails, the tests that need it fail. */
async function ensureSandboxImage(): Promise<void> {
  if (process.env["DOCKER_HOST"] === undefined) return;
  const image = process.env["REEVE_SANDBOX_IMAGE"] ?? "reeve-sandbox:latest";
  const { status } = spawnSync("docker", ["image", "inspect", image], { stdio: "ignore" });
  if (status !== 0) await run(["scripts/sandbox-image.ts", image]);
}

/** Runs a script with this Node, and returns whether it succeeded. */
function run(args: readonly string[]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
  child.on("error", () => resolve(false));
  child.on("exit", (code) => resolve(code === 0));
  return promise;
}
