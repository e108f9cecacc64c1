import { expect, test } from "vitest";
import { collect } from "../files/collect.ts";
import type { SandboxDriver } from "../port.ts";
import { defaultLimits } from "../port.ts";
import { maxCommands, WarmSandboxes } from "./warm-sandboxes.ts";

const never = new AbortController().signal;

test("a sandbox is replaced after the maximum number of commands", async () => {
  const open = new Set<number>();
  let opened = 0;
  const driver: SandboxDriver = {
    name: "in memory",
    probe: () => Promise.reject(new Error("unexpected probe")),
    open: () => {
      const id = opened++;
      open.add(id);
      return Promise.resolve({
        sessionId: String(id),
        exec: async function* () {
          yield { kind: "end", reason: "exit", code: id, durationMs: 0 } as const;
        },
        settled: () => Promise.resolve(true),
        [Symbol.asyncDispose]: () => Promise.resolve(void open.delete(id)),
      });
    },
    list: () => Promise.resolve([]),
    destroy: () => Promise.resolve(),
  };
  await using warm = new WarmSandboxes(driver, { idleMs: 60_000, maxIdle: 1 });
  const limits = { ...defaultLimits, timeoutMs: 1_000 };
  const ranIn = async () =>
    (await collect(warm.sandboxFor("/w"), { argv: ["x"], limits }, never)).end.code;
  for (let count = 0; count < maxCommands; count++) expect(await ranIn()).toBe(0);
  expect(await ranIn()).toBe(1);
  expect([...open]).toEqual([1]);
});
