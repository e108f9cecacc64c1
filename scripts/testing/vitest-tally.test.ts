import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { renderTally } from "./vitest-tally.ts";

/** Runs vitest in a process on test files with these contents, and returns what the reporter counted. */
function tallyOf(...contents: readonly string[]): unknown {
  const folder = mkdtempSync(join(tmpdir(), "reeve-tally-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [index, content] of contents.entries()) {
    writeFileSync(join(folder, `${index}.test.js`), content);
  }
  const options = { root: folder, config: false, run: true, watch: false, globals: true, retry: 1 };
  const script = `
    import { startVitest } from "vitest/node";
    import { TallyReporter } from "./scripts/testing/vitest-tally.ts";
    const reporter = new TallyReporter();
    const vitest = await startVitest([], { ...${JSON.stringify(options)}, reporters: [reporter] });
    await vitest.close();
    console.log(JSON.stringify(reporter.tally));
    process.exit();`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: join(import.meta.dirname, "../.."),
    encoding: "utf8",
    env: { ...process.env, VITEST: undefined, NODE_ENV: undefined },
  });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

test("counts tests by their result, and those that pass at the second attempt as failed", () => {
  const tests = `
    test("passes", () => {});
    test.skip("is skipped", () => {});
    test.todo("is planned");
    test("fails", () => expect(1).toBe(2));
    let attempts = 0;
    describe("outer", () => {
      test("is flaky", () => expect(++attempts).toBe(2));
    });`;
  expect(tallyOf(tests)).toEqual({ passed: 1, failed: 2, skipped: 2 });
});

test("counts a broken file, a failed hook, and an uncaught error as failures", () => {
  const broken = `import "../missing.js";`;
  const hook = `
    beforeAll(() => { throw new Error("no server"); });
    test("is not run", () => {});`;
  const uncaught = `test("leaves a rejection", () => { void Promise.reject(new Error("late")); });`;
  expect(tallyOf(broken, hook, uncaught)).toMatchObject({ passed: 1, failed: 3 });
});

test("renders the last line of npm test", () => {
  expect(renderTally({ passed: 8, failed: 2, skipped: 3 })).toBe("8 passed, 2 failed, 3 skipped");
});
