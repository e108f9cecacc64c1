import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { eventsOf } from "./stored-log.ts";

const runId = "run_decided000";
export const decidedCallId = `${runId}-4-0`;
/** Texts that only the arguments, the answer, and the files of the call have. */
export const contents = { model: "as-the-model-wrote", edited: "as-a-person-edited" } as const;

const call = {
  callId: decidedCallId,
  name: "pay",
  arguments: { to: contents.model },
  injectedArgs: { why: contents.model },
};
const file = { path: "bill.pdf", state: "file", sizeBytes: "3", sha256: "a".repeat(64) };
const approval = {
  approvalId: decidedCallId,
  runId,
  agentId: "payer",
  call,
  requestedBy: "ann",
  requestedAt: "2030-01-01T00:00:04Z",
  state: "APPROVAL_STATE_PENDING",
  allowEditedArguments: true,
  gates: ["GATE_KIND_TOOL"],
  escalations: [
    {
      dueAt: "2030-01-01T00:00:05Z",
      escalatedAt: "2030-01-01T00:00:06Z",
      alternative: { name: "later", people: ["dan"], approvals: 1, denials: 1 },
      revision: 1,
    },
  ],
  alternatives: [{ name: "security", groups: ["security"], approvals: 2, denials: 1 }],
  content: { digest: "b".repeat(64), files: [{ ...file, preview: contents.model }] },
};

function decision(decidedBy: string, id: string, fields: JsonObject = {}) {
  const editedArguments = { to: contents.edited };
  return { decisionId: id, approved: true, decidedBy, reason: "ok", editedArguments, ...fields };
}

function vote(decided: ReturnType<typeof decision>, attempts: number): JsonObject {
  return { decision: decided, countsFor: ["security"], attempts };
}

const first = decision("bob", "d1", { reason: "not sure" });
const changed = decision("bob", "d2");
const deciding = decision("cid", "d3");
const approved = {
  ...approval,
  state: "APPROVAL_STATE_APPROVED",
  alternatives: approval.alternatives.map((each) => ({ ...each, approvalsGiven: 2 })),
  votes: [vote(changed, 2), vote(deciding, 1)],
  decision: deciding,
  revision: 3,
};

/** A run in which two people approve a call with other arguments, one of them after a changed vote; and what follows its result. */
export function decidedCall(changes: { readonly result?: JsonObject } = {}): readonly RunEvent[] {
  const facts: readonly JsonObject[] = [
    { runCreated: { tenant: "acme", agentId: "payer", agentRevision: 3, startedBy: "ann" } },
    { runPrepared: { tools: [{ name: "pay", source: "mcp:bank" }] } },
    { messageSubmitted: { messageId: "m", message: { text: "go" }, submittedBy: "eve" } },
    { toolCall: call },
    { approval: { approval } },
    { approval: { approval: { ...approval, votes: [vote(first, 1)], revision: 1 } } },
    { approval: { approval: { ...approval, votes: [vote(changed, 2)], revision: 2 } } },
    { approval: { approval: approved } },
    { toolCallStarted: { callId: decidedCallId } },
    {
      toolResult: {
        success: true,
        result: {
          callId: decidedCallId,
          name: "pay",
          content: "paid",
          metadata: {
            status: "TOOL_STATUS_SUCCESS",
            approvalStatus: "APPROVAL_STATUS_APPROVED",
            approvalId: decidedCallId,
            isolation: "none",
            offloadedArtifactId: "art_large",
            offloadedArtifactSha256: "d".repeat(64),
            content: { digest: "b".repeat(64), files: [file] },
          },
          ...changes.result,
        },
      },
    },
    { messageSubmitted: { messageId: "n", message: { text: "more" }, submittedBy: "zoe" } },
    { text: { text: "done" } },
  ];
  return eventsFrom(facts);
}

/** Returns the events of a run of one call, `pay`, with these facts after the call. */
export function callWith(facts: readonly JsonObject[], more: JsonObject = {}): readonly RunEvent[] {
  const created = { tenant: "acme", agentId: "payer", agentRevision: 3, startedBy: "ann" };
  return eventsFrom([
    { runCreated: { ...created, ...more } },
    { runPrepared: {} },
    { toolCall: call },
    ...facts,
  ]);
}

function eventsFrom(facts: readonly JsonObject[]): readonly RunEvent[] {
  return eventsOf(facts.map(event));
}

function event(fact: JsonObject, index: number): JsonValue {
  const seconds = String(index + 1).padStart(2, "0");
  return { runId, sequence: index + 1, time: `2030-01-01T00:00:${seconds}Z`, ...fact };
}
