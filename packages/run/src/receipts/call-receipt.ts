import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Approval, Decision } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import type { CallReceipt, CastDecision, ReceiptEnd, ReceiptLog } from "@reeve/contracts/receipt";
import {
  CallReceiptSchema,
  CallRequesterSchema,
  ReceiptCallSchema,
  ReceiptEndSchema,
} from "@reeve/contracts/receipt";
import type { BoundFile } from "@reeve/contracts/tool";
import { specDigestOf } from "../approvals/grants/granted-digests.ts";
import { toolsOfCaller } from "../head/tools-of-caller.ts";
import type { CallHistory, EndedCall } from "./call-history.ts";
import { gateOf } from "./call-history.ts";
import { canonicalSha256 } from "./canonical-sha256.ts";
import { receiptResult } from "./receipt-result.ts";

/** A call that has ended, or whose run has, and the part of the log up to there. */
export interface ReceiptSource {
  readonly ended: EndedCall;
  readonly log: ReceiptLog;
}

/** Returns the receipt of a call: a function of the log up to the result of the call, or to the end of the run. */
export function callReceipt(
  { ended, log }: ReceiptSource,
  { omitContent }: { readonly omitContent: boolean },
): CallReceipt {
  const { callId, created, approvals, decisions, starts, result, end } = ended;
  return create(CallReceiptSchema, {
    tenant: created.tenant,
    runId: (result ?? end)?.event.runId ?? "",
    callId,
    requester: requesterOf(ended),
    call: calledOf(ended, omitContent),
    approvals: [...approvals.values()].map((each) => withoutContent(each, omitContent)),
    decisions: decisions.map((each) => (omitContent ? withoutDecided(each) : each)),
    starts: [...starts],
    log,
    contentOmitted: omitContent,
    ...(result && { result: receiptResult(result) }),
    ...(end && { end: endOf(end) }),
  });
}

function endOf({ event: { sequence, time }, status }: NonNullable<CallHistory["end"]>): ReceiptEnd {
  return create(ReceiptEndSchema, { sequence, status, ...(time && { recordedAt: time }) });
}

/** Returns the arguments with which the call was executed, or would have been if it had been permitted. */
export function finalArguments(history: CallHistory): JsonObject | undefined {
  const gate = gateOf(history);
  const isApproved = gate?.state === ApprovalState.APPROVED;
  const edited = isApproved ? gate.decision?.editedArguments : undefined;
  return edited ?? history.requested?.call.arguments;
}

function requesterOf({ created, createdAt, prepared, senders, requested }: EndedCall) {
  const { startedBy, startedByRoles, earlierRequesters, agentId, agentRevision } = created;
  const { agentAuthor, threadId, origin } = created;
  return create(CallRequesterSchema, {
    startedBy,
    startedByRoles,
    messageSenders: [...senders],
    earlierRequesters,
    agentId,
    agentRevision,
    agentSpecSha256: specDigestOf(created),
    agentAuthor,
    threadId,
    parentId: requested.parentId,
    policyRules: prepared?.policy?.rules ?? [],
    delegates: created.delegates.map((each) => ({
      agentId: each.agentId,
      revision: each.revision,
      specSha256: specDigestOf(each),
      author: each.author,
    })),
    ...(origin && { origin }),
    ...(createdAt && { startedAt: createdAt }),
  });
}

function calledOf(ended: EndedCall, omitContent: boolean) {
  const { prepared, requested, approvals } = ended;
  const [first] = approvals.values();
  const tools = toolsOfCaller(prepared, first?.delegateId ?? "");
  const { name, arguments: byModel, injectedArgs } = requested.call;
  const final = finalArguments(ended);
  const isEdited = final !== byModel;
  return create(ReceiptCallSchema, {
    tool: name,
    source: tools.find((tool) => tool.name === name)?.source ?? "",
    argumentsSha256: canonicalSha256(final ?? null),
    argumentsEdited: isEdited,
    modelArgumentsSha256: canonicalSha256(byModel ?? null),
    injectedArgumentsSha256: injectedArgs === undefined ? "" : canonicalSha256(injectedArgs),
    ...(!omitContent && {
      ...(final && { arguments: final }),
      ...(isEdited && byModel && { modelArguments: byModel }),
      ...(injectedArgs && { injectedArguments: injectedArgs }),
    }),
  });
}

/**
 * Returns an approval without the start of its files, without what other parts of the receipt have, and without the comments and the
 * assignment: people wrote them for each other, and they decide nothing.
 */
function withoutContent(approval: Approval, omitContent: boolean): Approval {
  const { content, decision, review, question } = approval;
  return create(ApprovalSchema, {
    ...approval,
    call: undefined,
    votes: [],
    comments: [],
    assignment: undefined,
    ...(decision && { decision: withoutAnswer(decision, omitContent) }),
    // Its reason may repeat arguments.
    ...(review && omitContent && { review: { ...review, reason: "" } }),
    // The question of an agent is the arguments of its call, and that of a tool may repeat them.
    ...(question && omitContent && { question: { ...question, message: "", schema: undefined } }),
    ...(content && { content: { ...content, files: content.files.map(withoutPreview) } }),
  });
}

function withoutPreview(file: BoundFile): BoundFile {
  const { previous } = file;
  return { ...file, preview: "", ...(previous && { previous: withoutPreview(previous) }) };
}

function withoutDecided(cast: CastDecision): CastDecision {
  const { decision } = cast;
  return decision === undefined ? cast : { ...cast, decision: withoutAnswer(decision, true) };
}

function withoutAnswer(decision: Decision, omitContent: boolean): Decision {
  const others = { ...decision, editedArguments: undefined, answer: undefined };
  // A model may repeat arguments in its reason.
  return omitContent && decision.reviewer !== undefined ? { ...others, reason: "" } : others;
}
