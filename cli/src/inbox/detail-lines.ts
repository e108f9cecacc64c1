import type { JsonObject } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Approval, SimilarDecision } from "@reeve/contracts/approval";
import { ApprovalState, ApprovalStateSchema, GateKind } from "@reeve/contracts/approval";
import type { BoundFile } from "@reeve/contracts/tool";
import { PermissionClass, PermissionClassSchema } from "@reeve/contracts/tool";
import { renderProgress } from "../render/approvals/approval-progress.ts";
import { renderTimes } from "../render/approvals/approval-times.ts";
import { renderNotes, renderSimilar } from "../render/approvals/notes.ts";
import { renderPermission } from "../render/permission.ts";
import { escapeUnsafe, oneLine, plainText } from "../render/plain-text.ts";
import { wholeJson } from "../render/whole-json.ts";
import { lineDifference } from "./line-difference.ts";
import type { ScreenLine } from "./screen-line.ts";
import { agentOf } from "../render/approvals/agent-of.ts";

type Look = ScreenLine["look"];

/** What is known beside the approval. */
export interface DetailOptions {
  /** The arguments that the person made in the editor. */
  readonly edited: JsonObject | undefined;
  /** What the tool may do. Undefined: the deployment does not say. */
  readonly permissionClass: PermissionClass | undefined;
  /** How people decided similar calls before. */
  readonly similar: readonly SimilarDecision[];
}

const gates: Partial<Record<GateKind, string>> = {
  [GateKind.TOOL]: "the agent asks for decisions about this tool",
  [GateKind.TOOL_SOURCE]: "the agent asks for decisions about a tool of this source that is gone",
  [GateKind.PERMISSION]: "a permission rule asks for a decision",
  [GateKind.PLUGIN]: "a plugin asks for a decision",
  [GateKind.QUESTION]: "the tool asks a question",
  [GateKind.WORKFLOW]: "a node of the workflow asks for a decision",
};

/** Returns everything that a person decides on, the risk first, and nothing of it cut. Lines may be longer than the screen. */
export function detailLines(approval: Approval, options: DetailOptions): readonly ScreenLine[] {
  const { call, requestedBy, question } = approval;
  const { similar } = options;
  const title = `${oneLine(call?.name ?? "a call", 256)}, called by ${agentOf(approval)}`;
  return [
    { text: `${title}, started by ${oneLine(requestedBy, 200) || "unknown"}`, look: "bold" },
    ...stateLines(approval),
    ...riskLines(approval, options),
    ...(question === undefined ? [] : labelled("question", plainText(question.message))),
    ...argumentLines(approval, options),
    ...(call?.injectedArgs
      ? labelled("what the model said about the call", wholeJson(call.injectedArgs))
      : []),
    ...(approval.content?.files ?? []).flatMap(fileLines),
    ...[...renderProgress(approval), ...renderTimes(approval)].map((line) => plain(line)),
    ...noteLines("notes", renderNotes(approval)),
    ...noteLines("decided similar calls before", renderSimilar(similar)),
    plain(`approval ${approval.approvalId}, run ${approval.runId}`, "dim"),
    ...(approval.callDigest === "" ? [] : [plain(`digest ${approval.callDigest}`, "dim")]),
  ];
}

function stateLines({ state, decision }: Approval): readonly ScreenLine[] {
  if (state === ApprovalState.PENDING) return [];
  const name = ApprovalStateSchema.value[state]?.localName.toLowerCase() ?? "closed";
  const by = decision === undefined ? "" : ` by ${decision.decidedBy}`;
  const reason = decision?.reason ? `: ${decision.reason}` : "";
  return [plain(`${name}${by}${reason}`, state === ApprovalState.APPROVED ? "green" : "red")];
}

function riskLines(
  approval: Approval,
  { permissionClass: listed }: DetailOptions,
): readonly ScreenLine[] {
  // The request recorded it; tools of the runtime are in no list of the deployment.
  const permissionClass =
    approval.permissionClass === PermissionClass.UNSPECIFIED ? listed : approval.permissionClass;
  const { permission, content, requestedAt } = approval;
  const changed = content?.files.filter(({ previous }) => previous !== undefined) ?? [];
  const level =
    permissionClass === undefined
      ? "unknown: the deployment does not list the tool"
      : (PermissionClassSchema.value[permissionClass]?.localName.toLowerCase() ?? "unknown");
  const isSafe = permissionClass === PermissionClass.SAFE;
  const why = approval.gates.flatMap((gate) => gates[gate] ?? []);
  const rule = renderPermission(permission, 4_000);
  return [
    plain(`risk: ${level}`, isSafe ? "green" : "yellow"),
    ...(approval.needsPasskey
      ? [plain("needs a passkey: approve it in the console, or reject it here", "yellow")]
      : []),
    ...(changed.length === 0
      ? []
      : [plain(`${changed.length} files have changed since the last approval`, "red")]),
    ...why.map((line) => plain(line)),
    ...(rule === "" ? [] : [plain(rule)]),
    ...approval.pluginReasons.map((reason) => plain(`plugin ${oneLine(reason, 1_000)}`)),
    ...(requestedAt ? [plain(`waits since ${timestampDate(requestedAt).toISOString()}`)] : []),
  ];
}

function argumentLines({ call }: Approval, { edited }: DetailOptions): readonly ScreenLine[] {
  const args = call?.arguments;
  if (args === undefined)
    return labelled("arguments, not JSON", escapeUnsafe(call?.rawArguments ?? ""));
  if (edited === undefined) return labelled("arguments", wholeJson(args));
  const looks = { "-": "red", "+": "green", " ": undefined } as const;
  return [
    { text: "arguments, edited", look: "bold" },
    ...lineDifference(wholeJson(args), wholeJson(edited)).map(({ sign, line }) => ({
      text: `${sign} ${line}`,
      look: looks[sign],
    })),
  ];
}

/** A word of a command that is no file says nothing. */
function fileLines({ path, state, sizeBytes, sha256, preview, previous }: BoundFile) {
  if (state === "absent" && previous === undefined) return [];
  const what = state === "file" ? `${sizeBytes} bytes, sha256 ${sha256}` : state;
  const title = {
    text: `file ${oneLine(path, 4_000)}: ${oneLine(what, 200)}`,
    look: "bold" as const,
  };
  if (previous === undefined) return [title, ...contentLines(" ", plainText(preview))];
  const looks = { "-": "red", "+": "green", " ": undefined } as const;
  const difference = lineDifference(plainText(previous.preview), plainText(preview));
  return [title, ...difference.flatMap(({ sign, line }) => contentLines(sign, line, looks[sign]))];
}

function contentLines(sign: string, text: string, look?: Look): readonly ScreenLine[] {
  if (text === "" && look === undefined) return [];
  return text.split("\n").map((line) => ({ text: `${sign} ${line}`, look }));
}

function noteLines(label: string, lines: readonly string[]): readonly ScreenLine[] {
  if (lines.length === 0) return [];
  return [{ text: label, look: "bold" }, ...lines.map((line) => plain(`  ${line}`))];
}

function labelled(label: string, text: string): readonly ScreenLine[] {
  return [
    { text: label, look: "bold" },
    ...text.split("\n").map((line) => ({ text: `  ${line}` })),
  ];
}

/** A line of text that may come from anybody. */
function plain(text: string, look?: Look): ScreenLine {
  return { text: plainText(text.replace(/\s+/g, " ")), look };
}
