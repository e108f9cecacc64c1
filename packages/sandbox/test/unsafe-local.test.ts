import { expect, test, vi } from "vitest";
import { sandboxIdentity } from "../src/host/identity.ts";
import { UnsafeLocalDriver } from "../src/unsafe-local/driver.ts";
import { collect } from "../src/files/collect.ts";
import { defaultLimits } from "../src/port.ts";
import { sandboxBench, signal } from "./support/contract/sandbox-bench.ts";
import { commandsContract } from "./support/contract/sandbox-contract.ts";
import { newMark } from "./support/new-mark.ts";
import { processesWith } from "./support/processes-with.ts";

const identity = sandboxIdentity(64_017);
const unbounded = { memory: false, processes: false };
const driver = new UnsafeLocalDriver(identity);

test("an unsafe-local sandbox does not claim to isolate", async () => {
  expect(await driver.probe()).toMatchObject({ works: true, isolates: false });
});

test.each([
  ["once", newMark(), "os.kill(agent, signal.SIGSTOP); time.sleep(600)"],
  ["again and again", newMark(), "while True: os.kill(agent, signal.SIGSTOP)"],
])("a call that stops its agent %s ends at its time limit", async (_, mark, stopping) => {
  await using bench = await sandboxBench({ driver, identity, bounds: unbounded, hidden: [] });
  const code = `import os, signal, time\nagent = os.getppid()\n${stopping}`;
  const { end } = await bench.run(["python3", "-I", "-c", code, mark], { timeoutMs: 1_000 });
  expect(end).toMatchObject({ reason: "timeout", code: undefined });
  await vi.waitFor(() => expect(processesWith(mark)).toEqual([]), 10_000);
});

test("a command with credentials, which only a proxy can use, is refused", async () => {
  await using bench = await sandboxBench({ driver, identity, bounds: unbounded, hidden: [] });
  const run = (names: readonly string[]) =>
    collect(
      bench.box,
      {
        argv: ["true"],
        limits: { ...defaultLimits, timeoutMs: 30_000 },
        network: {
          allow: ["api.example.org:443"],
          runId: "run_1",
          callId: "call_1",
          credentials: { tenant: "acme", names },
        },
      },
      signal,
    );
  await expect(run(["tracker"])).rejects.toThrow(
    /^no network: this sandbox has no proxy, which the credential tracker of the agent needs/,
  );
  expect((await run([])).end).toMatchObject({ reason: "exit", code: 0 });
});

commandsContract("unsafe-local", {
  driver,
  identity,
  bounds: unbounded,
  hidden: [],
});
