import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import type { ToolCallFact } from "@reeve/contracts/tool";
import { ToolCallFactSchema } from "@reeve/contracts/tool";
import { PlayedRun } from "@reeve/engine/test/support/run-player";
import type { Marks, RunEvidence } from "./evidence.ts";
import type { EffectKind, PlannedEffect, RunPlan } from "./run-plan.ts";
import { callOf } from "./worker-agent.ts";

const effect = (tag: string, kind: EffectKind): PlannedEffect => ({
  tag,
  kind,
  lastsMs: 0,
  approved: true,
  decidedAfterMs: 0,
});

const turns = [
  [effect("e0", "code"), effect("e1", "charge"), effect("e2", "note"), effect("e3", "write")],
  [effect("e4", "pay")],
].map((effects) => ({ text: "", isSubtask: false, effects }));

const plan: RunPlan = {
  index: 7,
  input: "Carry out plan 7.",
  turns,
  answer: "done",
  paceMs: 0,
  cancelAfterMs: undefined,
  thread: undefined,
  leaveProbability: 0,
};

/** Returns the evidence of a correct run with one effect of each kind, one of them approved. */
export function correctRun(): RunEvidence {
  const names = ["execute_code", "write_file", ...["charge", "note", "pay"].map(mcpName)];
  const run = new PlayedRun(
    { hitlTools: [mcpName("pay")] },
    { tools: names.map((name) => ({ name, parallelSafe: true })) },
  );
  for (const { effects } of turns) {
    run.turn(...effects.map((planned) => callOf(plan.index, planned)));
    if (effects[0]?.kind === "pay") run.decides(ApprovalState.APPROVED);
    for (const index of effects.keys()) run.result(index);
  }
  run.says("done").turn();
  return evidenceOf(run.events, RunStatus.COMPLETED);
}

const mcpName = (name: string) => `mcp__counter__${name}`;

function evidenceOf(stored: RunEvidence["stored"], status: RunStatus): RunEvidence {
  const journals = new Map<string, readonly ToolCallFact[]>();
  for (const { event } of stored) {
    if (event.case === "toolCall") journals.set(event.value.callId, journalOf(event.value.callId));
  }
  const marks = new Map<string, Marks>(
    turns.flatMap(({ effects }) => effects.map(({ tag }) => [tag, { times: 1, ends: 1 }])),
  );
  const seen = {
    runId: "run_test",
    events: stored,
    cancel: "none",
    interruptions: 0,
    longestPauseMs: 0,
    longestPauseWithStoreMs: 0,
    isGivenUp: false,
    errors: [],
  } as const;
  const lost = new Set<string>();
  return { plan, seen, stuck: undefined, stored, journals, marks, lost, shown: [status, status] };
}

function journalOf(callId: string): readonly ToolCallFact[] {
  return [
    toolFact({ case: "started", value: { host: "toolhost-1", requestSequence: 1n } }),
    toolFact({ case: "result", value: { callId, content: "found" } }),
  ];
}

/** Returns a fact of a journal. */
export function toolFact(
  value: NonNullable<MessageInitShape<typeof ToolCallFactSchema>["fact"]>,
): ToolCallFact {
  return create(ToolCallFactSchema, { time: timestampFromMs(1_000), fact: value });
}
