import { join } from "node:path";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { onTerminal, shellEnvironment } from "../../test/support/on-terminal.ts";
import { shortRun, smallServer } from "./support/small-server.ts";

const clone = join(import.meta.dirname, "../..");
const bin = join(clone, "cli/bin/reeve.mjs");
const call = {
  callId: "c",
  name: "read_file",
  arguments: { path: "données.csv", reason: "a reason that is longer than the terminal is wide" },
};
/** A run of a server whose clock is decades ahead. */
const events = [
  ...shortRun(1).slice(0, -1),
  { runId: "run_1", sequence: 4, event: { case: "toolCall", value: call } as const },
  ...shortRun(2).slice(-1),
].map((event, index) => ({
  ...event,
  time: timestampFromMs(Date.UTC(2100, 0, 1) + 1_000 * index),
}));

// Each terminal starts two processes, so both start at once.
test("NO_COLOR, the locale C, 40 columns, and a clock that is ahead change only the look", async () => {
  const { signal } = new AbortController();
  await using server = await smallServer(
    async function* () {
      yield { events, endStatus: RunStatus.COMPLETED };
    },
    0,
    signal,
  );
  const watch = (environment: Readonly<Record<string, string>>) =>
    onTerminal(`stty cols 40; exec ${process.execPath} ${bin} --url ${server.url} watch run_1`, {
      cwd: clone,
      environment: shellEnvironment(environment),
    });
  using colored = watch({ LANG: "C.UTF-8" });
  using plain = watch({ NO_COLOR: "1", LANG: "C", LC_ALL: "C" });
  for (const terminal of [colored, plain]) {
    expect({ code: await terminal.code, said: terminal.said() }).toMatchObject({ code: 0 });
    const lines = terminal.said().split("\n");
    const call = lines.find((line) => line.includes("→ read_file")) ?? "";
    expect(call).toContain("données.csv");
    expect(call.length).toBeLessThanOrEqual(40);
    expect(terminal.said()).toMatch(/✓ completed in [\d.]+ s/);
  }
  const green = "\u001b[32m";
  expect(colored.raw()).toContain(green);
  expect(plain.raw()).not.toContain("\u001b[");
});
