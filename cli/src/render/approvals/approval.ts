import type { Approval } from "@reeve/contracts/approval";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import { ApprovalState } from "@reeve/contracts/approval";
import type { Question } from "@reeve/contracts/tool";
import { answerShape } from "../../decisions/questions/answer-shape.ts";
import { renderProgress } from "./approval-progress.ts";
import { renderReview } from "./approval-review.ts";
import { renderTimes } from "./approval-times.ts";
import { renderBoundContent } from "./bound-content.ts";
import { renderNotes } from "./notes.ts";
import { renderPermission } from "../permission.ts";
import { oneLine } from "../plain-text.ts";
import { skim } from "./skim.ts";
import type { TraceOptions } from "../trace/trace-options.ts";

/** Renders a pending approval with the commands that decide it, or how it was decided. */
export function renderApproval(
  approval: Approval | undefined,
  { style, columns: width, reeve }: TraceOptions,
): readonly string[] {
  if (approval === undefined) return [];
  const { approvalId, call, decision, state, question, allowEditedArguments } = approval;
  const tool = oneLine(call?.name ?? "", 128);
  const reason = decision?.reason ? `: ${oneLine(decision.reason, width)}` : "";
  const edited = decision?.editedArguments;
  const others = edited === undefined ? "" : ` with ${oneLine(JSON.stringify(edited), width)}`;
  const grant = decision?.appliedGrant?.grantId ?? "";
  const byGrant = grant === "" ? "" : `, with grant ${oneLine(grant, 256)}`;
  const glass = decision?.breakGlass === undefined ? "" : ", by break-glass";
  const by =
    decision === undefined
      ? ""
      : `${others} by ${oneLine(decision.decidedBy, 100)}${byGrant}${glass}${reason}`;
  switch (state) {
    case ApprovalState.PENDING: {
      const id = oneLine(approvalId, 256);
      if (question !== undefined)
        return questionLines(approval, question, id, { style, columns: width, reeve });
      const { text: args, isShortened } = skim(approval, width);
      const all = `${reeve} approvals --run ${oneLine(approval.runId, 256)} --json`;
      const edit = allowEditedArguments ? style("dim", " [--args '{…}']") : "";
      const rule = renderPermission(approval.permission, width);
      return [
        `    ${style("yellow", `▲ ${tool} is waiting for approval`)} ${style("dim", args)}`,
        ...(isShortened ? [`      ${style("dim", `whole: ${all}`)}`] : []),
        ...(rule === "" ? [] : [`      ${style("dim", rule)}`]),
        ...renderBoundContent(approval.content, style, width),
        ...[
          ...renderProgress(approval),
          ...renderTimes(approval),
          ...renderReview(approval),
          ...renderNotes(approval),
        ].map((line) => `      ${style("dim", oneLine(line, width))}`),
        `      ${style("bold", `${reeve} approve ${id}`)}${edit}`,
        `      ${style("bold", `${reeve} reject ${id}`)}`,
      ];
    }
    case ApprovalState.APPROVED:
      return [`    ${style("green", "▲")} ${tool} ${question ? "answered" : "approved"}${by}`];
    case ApprovalState.REJECTED:
      return [`    ${style("red", "▲")} ${tool} ${question ? "declined" : "rejected"}${by}`];
    case ApprovalState.TIMED_OUT:
      return [`    ${style("red", "▲")} ${tool}: timed out without a decision`];
    case ApprovalState.SUPERSEDED:
      return [
        `    ${style("yellow", "▲")} ${tool}: not executed, its files have changed since the approval`,
      ];
    case ApprovalState.WITHDRAWN:
      return [
        `    ${style("yellow", "▲")} ${tool}: ${question ? "question" : "approval"} withdrawn`,
      ];
    default:
      return [];
  }
}

/** Renders a question, the choices or the names of the values that it asks for, and the commands that answer it. */
function questionLines(
  approval: Approval,
  question: Question,
  id: string,
  { style, columns: width, reeve }: TraceOptions,
): readonly string[] {
  const { message, schema, askedBy } = question;
  if (isAgentQuestion(approval)) {
    const { kind, choices } = answerShape(question);
    const how = kind === "form" ? "--answer '{…}'" : "…";
    const list = choices.length === 0 ? "" : ` (${choices.join(", ")})`;
    return [
      `    ${style("yellow", "▲ the agent asks")} ${oneLine(`${message}${list}`, width)}`,
      ...renderProgress(approval).map((line) => `      ${style("dim", oneLine(line, width))}`),
      `      ${style("bold", `${reeve} answer ${id} ${how}`)}`,
      `      ${style("bold", `${reeve} answer ${id} --decline`)}`,
    ];
  }
  const tool = oneLine(approval.call?.name ?? "", 128);
  const properties = schema?.["properties"];
  const names =
    typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  const requested = names.length === 0 ? "" : ` (${names.join(", ")})`;
  const text = oneLine(`${message}${requested}`, width);
  return [
    `    ${style("yellow", `▲ ${tool} asks`)} ${text} ${style("dim", `· ${oneLine(askedBy, 100)}`)}`,
    `      ${style("bold", `${reeve} approve ${id} --answer '{…}'`)}`,
    `      ${style("bold", `${reeve} reject ${id}`)}`,
  ];
}
