import type { Approval } from "@reeve/contracts/approval";
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
  const { approvalId, call, decision, state } = approval;
  const tool = oneLine(call?.name ?? "", 128);
  const reason = decision?.reason ? `: ${oneLine(decision.reason, width)}` : "";
  const by = decision === undefined ? "" : ` by ${oneLine(decision.decidedBy, 100)}${reason}`;
  switch (state) {
    case ApprovalState.PENDING: {
      const id = oneLine(approvalId, 256);
      return [
        `    ${colours.yellow(`▲ ${tool} waits for approval`)} ${colours.dim(oneLine(shortArguments(call?.arguments ?? {}), width))}`,
        `      ${colours.bold(`reeve approve ${id}`)}`,
        `      ${colours.bold(`reeve reject ${id}`)}`,
      ];
    }
    case ApprovalState.APPROVED:
      return [`    ${colours.green("▲")} ${tool} approved${by}`];
    case ApprovalState.REJECTED:
      return [`    ${colours.red("▲")} ${tool} rejected${by}`];
    case ApprovalState.TIMED_OUT:
      return [`    ${colours.red("▲")} ${tool}: nobody decided in time`];
    case ApprovalState.WITHDRAWN:
      return [`    ${colours.yellow("▲")} ${tool}: approval withdrawn`];
    default:
      return [];
  }
}
