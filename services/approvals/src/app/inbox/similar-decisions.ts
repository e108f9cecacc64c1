import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, equals, fromBinary, fromJson } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState, SimilarDecisionSchema } from "@reeve/contracts/approval";
import type { SimilarDecision } from "@reeve/contracts/approval";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import { agentToolOf } from "../approval-lists.ts";
import type { ReadPorts } from "../read-approvals.ts";
import { getApproval } from "../read-approvals.ts";

/** How many decisions are returned. */
const maxDecisions = 5;
/** How much is read for them at most: large approvals must not keep the process from other work. */
const maxRead = { rows: 50, bytes: 4 * 1024 * 1024 };

/** Returns how people decided earlier calls of the same tool by the same agent, of the newest request first. */
export async function similarDecisions(
  ports: ReadPorts,
  tenant: string,
  approvalId: string,
  signal: AbortSignal,
): Promise<SimilarDecision[]> {
  const approval = await getApproval(ports, { tenant, subject: "" }, approvalId, signal);
  const selection = {
    tenant,
    kinds: [ApprovalState.APPROVED, ApprovalState.REJECTED],
    fields: { agent_tool: agentToolOf(approval.agentId, approval.call?.name ?? "") },
  };
  return await ports.lists.read(
    tenant,
    (rows) => {
      const decisions: SimilarDecision[] = [];
      let rowsLeft = maxRead.rows;
      let bytesLeft = maxRead.bytes;
      for (const { bytes } of rows.select(selection, undefined, "descending")) {
        if (rowsLeft-- === 0 || bytesLeft <= 0) break;
        bytesLeft -= bytes.length;
        const past = fromBinary(ApprovalSchema, bytes, storedReadOptions);
        if (isSimilar(past, approval)) decisions.push(summaryOf(past, approval));
        if (decisions.length === maxDecisions) break;
      }
      return decisions;
    },
    signal,
  );
}

/** The answer to a question says nothing about a call. */
function isSimilar(past: Approval, { approvalId, question }: Approval): boolean {
  const isAlike = (past.question === undefined) === (question === undefined);
  return past.approvalId !== approvalId && past.decision !== undefined && isAlike;
}

function summaryOf(past: Approval, { call }: Approval): SimilarDecision {
  const { approvalId, runId, state, decision } = past;
  const summary: MessageInitShape<typeof SimilarDecisionSchema> = {
    approvalId,
    runId,
    state,
    decidedBy: decision?.decidedBy ?? "",
    reason: decision?.reason ?? "",
    sameArguments: hasSameArguments(past.call, call),
    editedArguments: decision?.editedArguments !== undefined,
    byGrant: decision?.appliedGrant !== undefined,
    ...(decision?.decidedAt && { decidedAt: decision.decidedAt }),
  };
  return create(SimilarDecisionSchema, summary);
}

function hasSameArguments(a: Approval["call"], b: Approval["call"]): boolean {
  if (a?.arguments === undefined || b?.arguments === undefined) return false;
  return equals(
    StructSchema,
    fromJson(StructSchema, a.arguments),
    fromJson(StructSchema, b.arguments),
  );
}
