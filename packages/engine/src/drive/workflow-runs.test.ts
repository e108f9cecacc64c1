import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { PermissionClass } from "@reeve/contracts/tool";
import { emptyTail } from "@reeve/jetstream/log/port";
import { emptyHead, foldHead, pendingApprovals } from "@reeve/run/head/run-head";
import { outputOf } from "@reeve/run/head/run-of";
import { isTerminal } from "@reeve/run/head/run-status";
import { expect, test } from "vitest";
import { expectOrder } from "../../test/support/event-order.ts";
import { countingModel } from "../../test/support/models.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";
import { graph } from "../../test/support/workflow/workflow-graph.ts";
import { historyOf } from "../../test/support/workflow/workflow-run.ts";

const never = new AbortController().signal;

const inner = graph(
  { in: { type: "input" }, look: { type: "tool:count" }, out: { type: "output" } },
  "in -> look.$after",
  "look -> out",
);

const whole = graph(
  {
    in: { type: "input" },
    each: {
      type: "map",
      properties: { node_type: "tool:look", item_input: "q", inputs: { items: [1, 2, 3] } },
    },
    find: { type: "agent:finder" },
    sum: { type: "code", properties: { code: "6 * 7" } },
    ask: { type: "approval", properties: { question: "Go on?" } },
    wait: { type: "delay", properties: { seconds: 2 } },
    sub: { type: "workflow:inner" },
    all: { type: "merge", properties: { mode: "object" } },
    out: { type: "output" },
  },
  "in -> each.$after",
  "in -> find.prompt",
  "in -> sum.text",
  "each -> ask.value",
  "ask.approved.value -> wait",
  "wait -> sub.input",
  "sub -> all",
  "each -> all",
  "find -> all",
  "sum.result -> all",
  "all -> out",
);

const agent = (id: string) => ({ id, model: "test:x" });
const delegates = [
  { agentId: "finder", spec: agent("finder") },
  { agentId: "inner", spec: { ...agent("inner"), workflow: inner } },
];

function bench(): WorkerBench {
  const safe = { source: "builtin", permissionClass: PermissionClass.SAFE };
  const inputSchema = { type: "object", properties: { q: {} } };
  return new WorkerBench(countingModel(0))
    .offers({ ...safe, name: "look", inputSchema })
    .offers({ ...safe, name: "execute_code" });
}

/** Drives a run to its end. A person approves what it asks. */
async function driven(runs: WorkerBench, name: string): Promise<readonly RunEvent[]> {
  for (let worker = 1; worker < 9; worker++) {
    await runs.drive(`${name}-${worker}`, worker);
    const head = foldHead(emptyHead, await runs.events());
    if (isTerminal(head.status)) break;
    for (const { approvalId } of pendingApprovals(head)) {
      await runs.decide(ApprovalState.APPROVED, approvalId);
    }
  }
  return await runs.events();
}

// Requirement: WF-2
test("a workflow whose worker died at any event continues to an equal history, and repeats no finished call", async () => {
  const first = bench();
  await first.create({ workflow: whole, delegates: ["finder", "inner"] }, { delegates });
  const history = await driven(first, "first");
  expectWhole(history, RunStatus.COMPLETED);
  expect(JSON.parse(outputOf(foldHead(emptyHead, history)))).toMatchObject({
    sub: "1",
    each: ["1", "1", "1"],
  });
  const kinds = history.map(({ event }) => event.case);
  expect(kinds.filter((kind) => kind === "workflowPrepared")).toHaveLength(1);
  expect(kinds.indexOf("workflowPrepared")).toBeLessThan(kinds.indexOf("runPrepared"));
  for (let survived = 1; survived < history.length; survived++) {
    const next = bench();
    await next.log.append(key, emptyTail, history.slice(0, survived), never);
    const events = await driven(next, "next");
    expectWhole(events, RunStatus.COMPLETED);
    expectOrder(events);
    expect(historyOf(events)).toEqual(historyOf(history));
    expect(new Set(next.executed).size).toBe(next.executed.length);
  }
});
