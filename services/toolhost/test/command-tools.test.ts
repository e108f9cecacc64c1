import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { executeCode } from "../src/tools/builtin/execute-code.ts";
import { runCommand } from "../src/tools/builtin/run-command.ts";
import type { Progress } from "@reeve/calls/ports/tool";
import type { SandboxedWorkspace } from "./support/sandboxed-workspace.ts";
import { skipReason } from "@reeve/sandbox/test/support/bubblewrap-here";
import { sandboxedWorkspace } from "./support/sandboxed-workspace.ts";

const signal = new AbortController().signal;
let workspace: SandboxedWorkspace;

beforeAll(async () => {
  workspace = await sandboxedWorkspace(signal);
});

afterAll(() => workspace[Symbol.asyncDispose]());

/** Collects reports; `first` resolves with the first of them. */
function listener() {
  const reports: Progress[] = [];
  const first = Promise.withResolvers<Progress>();
  const report = (progress: Progress) => {
    reports.push(progress);
    first.resolve(progress);
  };
  return { reports, report, first: first.promise };
}

function shell(script: string) {
  return { command: ["/bin/sh", "-c", script] };
}

describe.skipIf(skipReason !== "")(`while a command runs${skipReason}`, () => {
  test("its output is reported before it ends", async () => {
    const { report, first } = listener();
    // Continues until a reader of the output creates the file.
    const script = "echo working; until [ -e go ]; do sleep 0.05; done; echo done";
    const outcome = workspace.call(runCommand, { command: ["sh", "-c", script] }, { report });
    expect(await first).toEqual({ progress: 8, message: "working" });
    await workspace.prepare("touch go");
    expect(JSON.parse((await outcome).content)).toMatchObject({ stdout: "working\ndone\n" });
    await workspace.prepare("rm go");
  });

  test("each line that code prints is reported, whether it flushes or not", async () => {
    const { report, first } = listener();
    const code = "print('working')\nimport os.path\nwhile not os.path.exists('go'): pass\n'done'";
    const outcome = workspace.call(executeCode, { code }, { report });
    expect(await first).toMatchObject({ message: "working" });
    await workspace.prepare("touch go");
    expect(JSON.parse((await outcome).content)).toMatchObject({ result: "done", success: true });
    await workspace.prepare("rm go");
  });

  // Requirement: KIT-6
  test("code that imports what the default list lacks is refused before it runs", async () => {
    const code = "print('ran')\nimport socket";
    const outcome = JSON.parse((await workspace.call(executeCode, { code })).content) as object;
    expect(outcome).toMatchObject({
      success: false,
      stdout: "",
      stderr: expect.stringContaining("line 2: importing socket is not allowed") as unknown,
    });
  });

  test("a flood of output is reported at intervals", async () => {
    const { report, reports } = listener();
    const outcome = await workspace.call(
      runCommand,
      { command: ["timeout", "2", "yes"] },
      { report },
    );
    expect(outcome.endReason).toBe("output_limit");
    expect(reports.length).toBeLessThan(20);
  });
});

describe.skipIf(skipReason !== "")(`a result says how a command ended${skipReason}`, () => {
  // Requirement: KIT-1, KIT-3
  test.each([
    ["exit", shell("exit 3"), { exit_code: 3, stderr: "" }],
    [
      "signal",
      { command: ["python3", "-c", "import os; os.kill(os.getpid(), 10)"] },
      { exit_code: 138, stderr: "[ended by signal 10]" },
    ],
    [
      "signal",
      { command: ["prlimit", "--cpu=1:2", "python3", "-c", "while True: pass"] },
      { stderr: "[ended because it exceeded its processor time]" },
    ],
    [
      "timeout",
      { ...shell("echo before; sleep 60"), timeout: 0.5 },
      { stdout: "before\n", stderr: "[ended after the time limit of 0.5 s]" },
    ],
    [
      "output_limit",
      shell("echo why >&2; sleep 0.1; yes"),
      { stderr: "why\n\n[ended because it exceeded its output limit]" },
    ],
    ["exit", { command: ["no-such-program"] }, { exit_code: 127 }],
  ])("%s: %j", async (reason, args, expected) => {
    const outcome = await workspace.call(runCommand, args);
    expect(outcome).toMatchObject({ endReason: reason, isolation: "bubblewrap", isError: true });
    expect(JSON.parse(outcome.content)).toMatchObject({ ...expected, success: false });
  });

  // Requirement: KIT-1
  test("and the result of code that exceeds its time includes what it printed", async () => {
    const args = { code: "print('before')\nwhile True: pass", timeout: 1 };
    const outcome = await workspace.call(executeCode, args);
    expect(outcome.endReason).toBe("timeout");
    expect(JSON.parse(outcome.content)).toMatchObject({
      stdout: "before\n",
      stderr: "[ended after the time limit of 1 s]",
      success: false,
    });
  });

  test.each([
    ["one long argument", ["echo", "x".repeat(200_000)]],
    ["many long arguments", ["echo", ...Array.from({ length: 900 }, () => "x".repeat(10_000))]],
  ])("even if it could not start: %s", async (_, command) => {
    await expect(workspace.call(runCommand, { command })).rejects.toThrow(
      "the command is too long",
    );
  });
});
