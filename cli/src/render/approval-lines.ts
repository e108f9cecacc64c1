import type { Approval } from "@reeve/contracts/approval";
import type { Question } from "@reeve/contracts/tool";
import { ApprovalState } from "@reeve/contracts/approval";
import type { Colours } from "../terminal.ts";
import { oneLine } from "./plain-text.ts";
import { shortArguments } from "./tool-lines.ts";

/** A call that waits for a person, with the commands that decide it; or what became of it. */
export function renderApproval(
  approval: Approval | undefined,
  colours: Colours,
  width: number,
): readonly string[] {
  if (approval === undefined) return [];
  const { approvalId, call, decision, state, question } = approval;
  const tool = oneLine(call?.name ?? "", 128);
  const reason = decision?.reason ? `: ${oneLine(decision.reason, width)}` : "";
  const by = decision === undefined ? "" : ` by ${oneLine(decision.decidedBy, 100)}${reason}`;
  switch (state) {
    case ApprovalState.PENDING: {
      const id = oneLine(approvalId, 256);
      if (question !== undefined) return questionLines(question, tool, { id, colours, width });
      return [
        `    ${colours.yellow(`▲ ${tool} waits for approval`)} ${colours.dim(oneLine(shortArguments(call?.arguments ?? {}), width))}`,
        `      ${colours.bold(`reeve approve ${id}`)}`,
        `      ${colours.bold(`reeve reject ${id}`)}`,
      ];
    }
    case ApprovalState.APPROVED:
      return [`    ${colours.green("▲")} ${tool} ${question ? "answered" : "approved"}${by}`];
    case ApprovalState.REJECTED:
      return [`    ${colours.red("▲")} ${tool} ${question ? "not answered" : "rejected"}${by}`];
    case ApprovalState.TIMED_OUT:
      return [`    ${colours.red("▲")} ${tool}: nobody decided in time`];
    case ApprovalState.WITHDRAWN:
      return [
        `    ${colours.yellow("▲")} ${tool}: ${question ? "question" : "approval"} withdrawn`,
      ];
    default:
      return [];
  }
}

/** What a tool asks, with what it wants to know by name, and the commands that answer it. */
function questionLines(
  { message, schema, askedBy }: Question,
  tool: string,
  {
    id,
    colours,
    width,
  }: { readonly id: string; readonly colours: Colours; readonly width: number },
): readonly string[] {
  const properties = schema?.["properties"];
  const names =
    typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  const wanted = names.length === 0 ? "" : ` (${names.join(", ")})`;
  const said = oneLine(`${message}${wanted}`, width);
  return [
    `    ${colours.yellow(`▲ ${tool} asks`)} ${said} ${colours.dim(`· ${oneLine(askedBy, 100)}`)}`,
    `      ${colours.bold(`reeve approve ${id} --answer '{…}'`)}`,
    `      ${colours.bold(`reeve reject ${id}`)}`,
  ];
}
