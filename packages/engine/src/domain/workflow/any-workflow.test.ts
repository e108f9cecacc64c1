import type { JsonObject } from "@bufbuild/protobuf";
import { ApprovalState } from "@reeve/contracts/approval";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { expectOrder } from "../../../test/support/event-order.ts";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { graph } from "../../../test/support/workflow/workflow-graph.ts";
import type { PlayedNode } from "../../../test/support/workflow/workflow-graph.ts";
import { ends, openNodes, workflowRun } from "../../../test/support/workflow/workflow-run.ts";
import { openWaits } from "../next-effects.ts";
import { applyAll } from "../state/apply.ts";
import { initialState } from "../state/run-state.ts";

const onError: JsonObject = { on_error: "continue" };
const kinds: readonly PlayedNode[] = [
  { type: "tool:search" },
  { type: "tool:search", properties: onError },
  { type: "condition", properties: { operator: "contains", operand: "a" } },
  { type: "merge", properties: { mode: "list" } },
  { type: "approval", properties: { question: "?" } },
  { type: "delay", properties: { seconds: 9 } },
];

/** The outputs of a node that an edge may come from, and its input. */
const handles: Readonly<Record<string, { readonly from: readonly string[]; readonly to: string }>> =
  {
    input: { from: ["value"], to: "" },
    "tool:search": { from: ["result", "error"], to: "q" },
    condition: { from: ["true", "false"], to: "value" },
    merge: { from: ["value"], to: "values" },
    approval: { from: ["approved", "rejected.comment"], to: "value" },
    delay: { from: ["value"], to: "value" },
  };

/** Nodes after an input, each with one or two edges from nodes before it. */
const anyNodes = fc.array(
  fc.record({
    kind: fc.nat(kinds.length - 1),
    sources: fc.array(fc.nat(), { minLength: 1, maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 9 },
);

function workflowOf(nodes: typeof anyNodes extends fc.Arbitrary<infer Each> ? Each : never) {
  const all: PlayedNode[] = [{ type: "input" }];
  const edges: string[] = [];
  for (const { kind, sources } of nodes) {
    const node = kinds[kind] ?? { type: "merge" };
    const isMerge = node.type === "merge";
    for (const [index, source] of (isMerge ? sources : sources.slice(0, 1)).entries()) {
      const from = source % all.length;
      const outputs = handles[all[from]?.type ?? ""]?.from ?? [];
      const handle = outputs[(source + index) % outputs.length] ?? "";
      edges.push(`n${from}.${handle} -> n${all.length}.${handles[node.type]?.to}`);
    }
    all.push(node);
  }
  const last = all.length - 1;
  const output = handles[all[last]?.type ?? ""]?.from[0];
  const named = Object.fromEntries(all.map((node, index) => [`n${index}`, node]));
  return graph({ ...named, out: { type: "output" } }, `n${last}.${output} -> out`);
}

/** Ends one open node, or decides on it. */
function act(run: PlayedRun, choice: number): void {
  const waits = openWaits(run.state);
  const open = openNodes(run).filter((id) => !isAsked(run, id));
  const which = choice % (waits.length + open.length);
  if (which < waits.length) {
    const { APPROVED, REJECTED, TIMED_OUT } = ApprovalState;
    const state = [APPROVED, REJECTED, TIMED_OUT][choice % 3] ?? APPROVED;
    run.decides(state, { callId: waits[which] });
    return;
  }
  const node = open[which - waits.length] ?? "";
  ends(run, node, { content: choice % 2 === 0 ? "a" : "b", isError: choice % 5 === 4 });
}

function isAsked(run: PlayedRun, id: string): boolean {
  return run
    .frame()
    .calls.some(({ call, approval }) => call.nodeId === id && approval !== undefined);
}

function played(run: PlayedRun, choices: readonly number[]): PlayedRun {
  for (let count = 0; run.end === undefined; count++)
    act(run, choices[count % choices.length] ?? 0);
  return run;
}

test("every workflow ends in order, also after its worker was lost, and its state is the fold of its log", () => {
  const choices = fc.array(fc.nat(100), { minLength: 5, maxLength: 20 });
  fc.assert(
    fc.property(anyNodes, choices, fc.nat(), (nodes, chosen, at) => {
      const run = played(workflowRun(workflowOf(nodes)), chosen);
      expectOrder(run.events);
      expect(applyAll(initialState, run.events)).toEqual(run.state);
      const ids = run.all("toolCall").map(({ callId }) => callId);
      expect(new Set(ids).size).toBe(ids.length);
      const survived = 5 + (at % (run.events.length - 5));
      const next = new PlayedRun({}, {}, run.events.slice(0, survived)).claimedAnew();
      expectOrder(played(next, chosen).events);
    }),
    { numRuns: 40 },
  );
});
