import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, toJson } from "@bufbuild/protobuf";
import { graphOf } from "@reeve/agent/workflow/building/graph-schema";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import { WorkflowSchema } from "@reeve/contracts/extensions/workflow";
import type { RunEvent } from "@reeve/contracts/run";
import { ChatContextKind, RunStatus } from "@reeve/contracts/run";
import { PermissionClass } from "@reeve/contracts/tool";
import { emptyTail } from "@reeve/jetstream/log/port";
import { emptyHead, foldHead, pendingApprovals } from "@reeve/run/head/run-head";
import { outputOf } from "@reeve/run/head/run-of";
import { isTerminal } from "@reeve/run/head/run-status";
import { expect, test } from "vitest";
import type { ModelProvider } from "../ports/model-provider.ts";
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

function bench(model = countingModel(0)): WorkerBench {
  const safe = { source: "builtin", permissionClass: PermissionClass.SAFE };
  const inputSchema = { type: "object", properties: { q: {} } };
  const runs = new WorkerBench(model)
    .offers({ ...safe, name: "look", inputSchema })
    .offers({ ...safe, name: "execute_code" });
  runs.hasNodeRegistry = true;
  return runs;
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

type Graph = NonNullable<MessageInitShape<typeof WorkflowSchema>>;

/** Returns the log of a run of a workflow with an input, an approval, and two delegates, none of whose workers died. */
async function undisturbed(workflow: Graph): Promise<readonly RunEvent[]> {
  const runs = bench();
  await runs.create({ workflow, delegates: ["finder", "inner"] }, { delegates });
  const history = await driven(runs, "first");
  expectWhole(history, RunStatus.COMPLETED);
  expect(JSON.parse(outputOf(foldHead(emptyHead, history)))).toMatchObject({
    sub: "1",
    each: ["1", "1", "1"],
  });
  return history;
}

/** Expects an equal history wherever the worker died, and no call executed twice. */
async function expectEqualAfterLosses(history: readonly RunEvent[]): Promise<void> {
  for (let survived = 1; survived < history.length; survived++) {
    const next = bench();
    await next.log.append(key, emptyTail, history.slice(0, survived), never);
    const events = await driven(next, "next");
    expectWhole(events, RunStatus.COMPLETED);
    expectOrder(events);
    expect(historyOf(events)).toEqual(historyOf(history));
    expect(new Set(next.executed).size).toBe(next.executed.length);
  }
}

/** A model that has a workflow built, and plans `workflow` when it is asked for one. */
function building(workflow: Graph): ModelProvider {
  const planned = create(WorkflowSchema, workflow);
  const graphText = JSON.stringify(toJson(WorkflowSchema, planned, { useProtoFieldName: true }));
  return {
    descriptor: create(ProviderDescriptorSchema, { name: "test" }),
    format: "test",
    async *stream({ messages, tools }) {
      const isPlanner = tools.every(({ name }) => name === "finish_subtask");
      const isDone = messages.some(({ role }) => role === "tool");
      const call = isPlanner
        ? { name: "finish_subtask", argumentsText: graphText }
        : { name: "build_workflow", argumentsText: `{"objective":"check an order"}` };
      if (isDone) yield { kind: "text", text: "built" };
      const calls = isDone ? [] : [{ providerCallId: "p", ...call }];
      const finishReason = isDone ? "stop" : "tool_calls";
      const turn = { messageJson: "{}", finishReason, calls, usage: undefined, model: "test" };
      yield { kind: "turn", turn };
    },
  };
}

// Requirement: WF-2
test("a workflow whose worker died at any event continues to an equal history, and repeats no finished call", async () => {
  const history = await undisturbed(whole);
  const kinds = history.map(({ event }) => event.case);
  expect(kinds.filter((kind) => kind === "workflowPrepared")).toHaveLength(1);
  expect(kinds.indexOf("workflowPrepared")).toBeLessThan(kinds.indexOf("runPrepared"));
  await expectEqualAfterLosses(history);
});

// Requirement: WF-1, WF-2
test("a workflow that build_workflow returned does the same", async () => {
  const editor = bench(building(whole));
  const chatContext = { kind: ChatContextKind.EDITOR };
  await editor.create({ delegates: ["finder", "inner"] }, { delegates, chatContext });
  await editor.drive("editor");
  const events = await editor.events();
  expectWhole(events, RunStatus.COMPLETED);
  const results = events.flatMap(({ event }) =>
    event.case === "toolResult" ? [event.value.result] : [],
  );
  const built = results.find((result) => result?.name === "build_workflow");
  const workflow = graphOf(built?.structured ?? {});
  expect(workflow).toEqual(create(WorkflowSchema, whole));
  const history = await undisturbed(workflow ?? {});
  expect(historyOf(history)).toEqual(historyOf(await undisturbed(whole)));
  await expectEqualAfterLosses(history);
});
