import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { PoolBench } from "./support/pool-bench.ts";
import type { ToolhostProcess } from "./support/toolhost-process.ts";

const signal = new AbortController().signal;
/** Much shorter than the freeze, so that the queue gives the call to the other toolhost. */
const settings = { REEVE_ACK_WAIT_MS: "1000" };
let bench: PoolBench;
let hosts: readonly ToolhostProcess[];

beforeAll(async () => {
  bench = await PoolBench.open(signal);
  hosts = await Promise.all([bench.start(settings), bench.start(settings)]);
});

afterAll(() => bench[Symbol.asyncDispose]());

// Requirement: DUR-3
test("a call that is not idempotent survives that its toolhost is frozen while another one gets it", async () => {
  const script = "until [ -e go ]; do sleep 0.1; done; echo went";
  const args = { command: ["sh", "-c", script] };
  const request = await bench.ask({ name: "run_command", runId: "run_frozen", args });
  const name = await bench.reaches(request, "started");
  const frozen = hosts.find(({ host }) => host === name);
  frozen?.kill("SIGSTOP");
  await vi.waitFor(async () => expect(await bench.redelivered()).toBeGreaterThan(0), {
    timeout: 30_000,
  });
  frozen?.kill("SIGCONT");
  const go = { name: "write_file", runId: "run_frozen", args: { path: "go", content: "" } };
  await bench.ask({ ...go, callId: "run_frozen-2-1" });
  expect(await bench.outcome(request)).toMatchObject({
    content: expect.stringContaining("went"),
    isError: false,
    hosts: [name],
  });
});
