import { RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { callingModel } from "../../../test/support/models.ts";
import { MemoryPlugins } from "../../../test/support/plugins/memory-plugins.ts";
import { expectWhole, resultsOf, WorkerBench } from "../../../test/support/worker-bench.ts";

const never = new AbortController().signal;

test("a call of a plugin's tool that comes while its worker drains is made once, by the next worker", async () => {
  const drain = new AbortController();
  const executions: string[] = [];
  const memory = new MemoryPlugins({
    guard: {
      descriptor: { phases: [], tools: [{ name: "pay", permissionClass: "safe" }] },
      tool: ({ callId }) => {
        executions.push(callId);
        return "paid";
      },
    },
  });
  const bench = new WorkerBench(callingModel([["guard__pay", "{}"]], () => drain.abort()));
  bench.plugins = memory;
  bench.ownerFate = "ended";
  await bench.create({ pluginIds: ["guard"] });
  expect(await bench.drive("first", 1, { now: never, drain: drain.signal })).toBe("given back");
  expect(executions).toEqual([]);
  await bench.drive("second", 1, undefined, 2);
  expect(executions).toHaveLength(1);
  expect(await resultsOf(bench)).toEqual(["paid"]);
  expectWhole(await bench.events(), RunStatus.COMPLETED);
});
