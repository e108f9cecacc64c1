import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { GateKindSchema } from "@reeve/contracts/approval";
import type {
  CallReceipt,
  CastDecision,
  ReceiptLog,
  ReceiptResult,
} from "@reeve/contracts/receipt";
import { ToolStatus, ToolStatusSchema } from "@reeve/contracts/tool";
import { statusName } from "@reeve/run/head/run-status";
import { renderProgress } from "../approvals/approval-progress.ts";
import { renderTimes } from "../approvals/approval-times.ts";
import { renderPermission } from "../permission.ts";
import { oneLine } from "../plain-text.ts";
import { shownExactly } from "@reeve/contracts/content/shown-exactly";

/** The width of the names of the lines. */
const labelWidth = 11;
/** Longer arguments have to be read with `--json`. */
const maxArguments = 2_000;

/** Returns what a receipt says, one fact in a line. */
export function renderReceipt(receipt: CallReceipt): readonly string[] {
  const { requester, call, approvals, decisions, result, log, tenant, runId } = receipt;
  const { startedBy = "", messageSenders = [], earlierRequesters = [] } = requester ?? {};
  const others = [...new Set([...messageSenders, ...earlierRequesters])];
  const agent = `agent ${requester?.agentId || "without an id"} revision ${requester?.agentRevision ?? 0}`;
  const author = requester?.agentAuthor ? `, saved by ${requester.agentAuthor}` : "";
  return [
    line("call", `${receipt.callId} of run ${runId}, tenant ${tenant}`),
    line("asked by", `${startedBy || "unknown"} at ${timeOf(requester?.startedAt)}`),
    ...(others.length === 0 ? [] : [line("", `also ${others.join(", ")}, who sent messages`)]),
    line("agent", `${agent}${author}, spec sha256 ${requester?.agentSpecSha256 ?? ""}`),
    line("tool", `${call?.tool ?? ""} (${call?.source || "unknown source"})`),
    line("arguments", argumentsOf(receipt)),
    ...approvals.flatMap(filesOf),
    ...approvals.flatMap(policyOf),
    ...decisions.map((decision) => line("decided", decidedBy(decision))),
    line("executed", executionOf(receipt)),
    line("result", outcomeOf(receipt)),
    ...(result?.offloadedArtifactId ? [line("", artifactOf(result))] : []),
    line("log", logOf(log)),
  ];
}

function line(name: string, text: string): string {
  return `${name.padEnd(labelWidth)}${oneLine(text, 4_000)}`;
}

function timeOf(time: Timestamp | undefined): string {
  return time === undefined ? "an unknown time" : timestampDate(time).toISOString();
}

function argumentsOf({ call, contentOmitted }: CallReceipt): string {
  const edited = call?.argumentsEdited === true ? "edited by a person, " : "";
  const digest = `sha256 ${call?.argumentsSha256 ?? ""}`;
  if (contentOmitted) return `left out, ${edited}${digest}`;
  const shown = shownExactly(JSON.stringify(call?.arguments ?? {}));
  const text = shown.length > maxArguments ? `${shown.slice(0, maxArguments)}…` : shown;
  return `${text} (${edited}${digest})`;
}

function filesOf({ content, approvalId }: Approval): readonly string[] {
  return (content?.files ?? []).map(({ path, state, sha256 }) =>
    line("file", `${path}: ${sha256 === "" ? state : `sha256 ${sha256}`} (${approvalId})`),
  );
}

/** Why a decision was needed, and who might decide. */
function policyOf(approval: Approval): readonly string[] {
  const { approvalId, gates, permission, supersedes } = approval;
  const names = gates.map((gate) => GateKindSchema.value[gate]?.localName.toLowerCase() ?? "newer");
  const rule = renderPermission(permission, 512);
  const parts = [
    `${approvalId} for ${names.join(", ") || "an unknown reason"}`,
    ...(rule === "" ? [] : [rule]),
    ...(supersedes === "" ? [] : [`in place of ${supersedes}`]),
  ];
  const further = [...renderProgress(approval), ...renderTimes(approval)];
  return [line("policy", parts.join("; ")), ...further.map((each) => line("", each))];
}

function decidedBy({ decision, isVote, countsFor, recordedAt, approvalId }: CastDecision): string {
  const { decidedBy: subject = "", reason = "", appliedGrant, reviewer } = decision ?? {};
  const verb = decision?.approved === true ? "approved" : "rejected";
  const glass = decision?.breakGlass === undefined ? "" : ", by break-glass,";
  const grant = appliedGrant && ` by grant ${appliedGrant.grantId}, rule ${appliedGrant.rule}`;
  const model = reviewer && `, a model with the rubric sha256 ${reviewer.rubricSha256},`;
  const vote = isVote ? ` (vote for ${countsFor.join(", ")})` : "";
  const why = reason === "" ? "" : `: ${reason}`;
  return `${verb} by ${subject}${model ?? ""}${grant ?? ""}${glass} at ${timeOf(recordedAt)}, ${approvalId}${vote}${why}`;
}

function outcomeOf({ result, end, starts }: CallReceipt): string {
  if (end !== undefined) {
    const ended = `the run ended before, with the status ${statusName(end.status) || "unknown"}, at ${timeOf(end.recordedAt)}`;
    return starts.length === 0 ? `none: ${ended}` : `not known: ${ended}`;
  }
  const status = ToolStatusSchema.value[result?.status ?? 0]?.localName.toLowerCase() ?? "unknown";
  const content = `${result?.contentBytes ?? 0n} bytes, sha256 ${result?.contentSha256 ?? ""}`;
  return `${status} at ${timeOf(result?.recordedAt)}, ${content}`;
}

function artifactOf({ offloadedArtifactId, offloadedArtifactSha256 }: ReceiptResult): string {
  const digest = offloadedArtifactSha256 === "" ? "no digest" : `sha256 ${offloadedArtifactSha256}`;
  return `with artifact ${offloadedArtifactId}, ${digest}`;
}

function logOf(log: ReceiptLog | undefined): string {
  const { throughSequence = 0, digest = "", chainedFrom = 0 } = log ?? {};
  return chainedFrom === 0
    ? `events 1 to ${throughSequence}, without a digest`
    : `events ${chainedFrom} to ${throughSequence}, digest ${digest}`;
}

/** Whether the call was executed, as far as the log of the run can tell. */
function executionOf({ starts, result, end, call }: CallReceipt): string {
  const started = starts.findLast(
    ({ approvalId }) => end !== undefined || approvalId === result?.approvalId,
  );
  const isolation = result?.isolation ? `, isolation ${result.isolation}` : "";
  if (result?.status === ToolStatus.REJECTED) return "no: it was refused before a toolhost began";
  if (started !== undefined) {
    // Every toolhost reports an isolation, and a run that refuses or cancels a call before does not.
    const isUnseen = result !== undefined && isolation === "" && call?.source !== "runtime";
    const unseen = isUnseen ? ", but no toolhost reported that it began" : "";
    return `handed out at ${timeOf(started.startedAt)}${isolation}${unseen}`;
  }
  const isOwn = call?.source === "runtime" && result?.status === ToolStatus.SUCCESS;
  return isOwn ? "by the run itself" : "no: it was not handed out after the decision";
}
