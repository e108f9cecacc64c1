import { expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";
import { serveRuns } from "./support/small-server.ts";

const retryRun = ({ runId }: { runId: string }) => ({ run: { runId: `${runId}_again` } });

test("retry prints the id of the run that continues a failed one", async () => {
  const { signal } = new AbortController();
  await using server = await serveRuns({ retryRun }, 0, signal);
  const terminal = new MemoryTerminal();
  const args = ["--url", server.url, "retry", "run_1"];
  expect(await runCli(args, { terminal, environment: {}, signal })).toBe(0);
  expect(terminal.stdout).toBe("run_1_again\n");
});
