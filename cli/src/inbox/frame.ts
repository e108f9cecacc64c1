import { timestampMs } from "@bufbuild/protobuf/wkt";
import { oneLine, plainText } from "../render/plain-text.ts";
import { shortArguments } from "../render/tool.ts";
import { detailLines } from "./detail-lines.ts";
import type { KnownTool } from "./grant-lines.ts";
import { grantLines } from "./grant-lines.ts";
import type { InboxState } from "./inbox-state.ts";
import { listedApprovals, selectedApproval } from "./inbox-state.ts";
import type { ScreenLine } from "./screen-line.ts";
import { columnsOf, fitted, wrapped } from "./screen-line.ts";
import { agentOf } from "../render/approvals/agent-of.ts";

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

export interface FrameOptions extends ScreenSize {
  readonly nowMs: number;
  /** The tools that the deployment lists, by name. */
  readonly tools: ReadonlyMap<string, KnownTool>;
}

const keys =
  "j k move · space b scroll · a approve · r reject · e edit · g grant · c comment · / text · m mine · q quit";

/** The lines of the whole screen, and how far its details are scrolled: no farther than to their end. */
export interface Frame {
  readonly lines: readonly ScreenLine[];
  readonly scroll: number;
}

/** Returns the screen: the list, the details of the selected approval, and what the keys do. */
export function frameOf(state: InboxState, options: FrameOptions): Frame {
  const { columns, rows } = options;
  // A rule may be long, and everything of it has to be seen before Enter.
  const listRows = isGrant(state) ? 1 : Math.max(Math.floor((rows - 3) / 3), 1);
  const detailRows = Math.max(rows - 3 - listRows, 1);
  const details = shownDetails(state, options, detailRows);
  const lines = [
    headOf(state, columns),
    ...padded(listLines(state, options, listRows), listRows),
    { text: "─".repeat(Math.floor(columns / 2)), look: "dim" as const },
    ...padded(details.lines, detailRows),
    lastLine(state, columns),
  ];
  return { lines: lines.slice(0, rows), scroll: details.scroll };
}

function headOf(state: InboxState, columns: number): ScreenLine {
  const { approvals, isPartial, text, isMine, isConnected } = state;
  const parts = [
    `Inbox: ${approvals.size}${isPartial ? "+" : ""}`,
    ...(isMine ? ["for me"] : []),
    ...(text === "" ? [] : [`with "${oneLine(text, 100)}"`]),
    ...(isConnected ? [] : ["connecting …"]),
  ];
  return { text: fitted(parts.join(" · "), columns), look: "bold" };
}

function listLines(
  state: InboxState,
  { columns, nowMs }: FrameOptions,
  count: number,
): readonly ScreenLine[] {
  const listed = listedApprovals(state);
  if (listed.length === 0) return [{ text: "nothing waits", look: "dim" }];
  const at = listed.findIndex(({ approvalId }) => approvalId === state.selectedId);
  const first = Math.max(Math.min(at - Math.floor(count / 2), listed.length - count), 0);
  return listed.slice(first, first + count).map((approval) => {
    const { approvalId, call, question, requestedAt } = approval;
    const age = ageOf(nowMs - (requestedAt ? timestampMs(requestedAt) : nowMs)).padStart(4);
    const args = question ? `asks: ${question.message}` : shortArguments(call?.arguments ?? {});
    const cells = [
      age,
      oneLine(call?.name ?? "", 40),
      oneLine(agentOf(approval), 40),
      oneLine(args, columns),
    ];
    const isSelected = approvalId === state.selectedId;
    const text = fitted(`${isSelected ? ">" : " "} ${cells.join("  ")}`, columns);
    return { text, look: isSelected ? ("inverse" as const) : undefined };
  });
}

function isGrant({ prompt }: InboxState): boolean {
  return prompt?.kind === "grant";
}

function shownDetails(state: InboxState, { columns, tools }: FrameOptions, count: number): Frame {
  const approval = selectedApproval(state);
  if (approval === undefined) return { lines: [], scroll: 0 };
  const tool = tools.get(approval.call?.name ?? "");
  const lines = [
    ...(isGrant(state) ? grantLines(state.prompt?.text ?? "", approval.call, tool) : []),
    ...detailLines(approval, {
      edited: state.edits.get(approval.approvalId),
      permissionClass: tool?.permissionClass,
      similar: state.similar.get(approval.approvalId) ?? [],
    }),
  ].flatMap(({ text, look }) => wrapped(text, columns).map((part) => ({ text: part, look })));
  if (lines.length <= count) return { lines, scroll: 0 };
  // One line says that there is more, so that nobody takes a part for the whole.
  const scroll = Math.min(state.scroll, lines.length - count + 1);
  const below = lines.length - scroll - (count - 1);
  const shown = lines.slice(scroll, scroll + count - 1);
  const key = state.prompt === undefined ? "space" : "page down";
  const rest = below > 0 ? `… ${below} more lines: ${key}` : "the end";
  return { lines: [...shown, { text: fitted(rest, columns), look: "yellow" }], scroll };
}

/** The end of a long text stays visible while it is typed. */
function lastLine({ prompt, message }: InboxState, columns: number): ScreenLine {
  if (prompt === undefined) {
    return message === ""
      ? { text: fitted(keys, columns), look: "dim" }
      : { text: fitted(oneLine(message, 1_000), columns), look: "yellow" };
  }
  const line = `${prompt.question}: ${plainText(prompt.text)}█ (Enter, or Escape)`;
  // Half of the columns: each character may take two.
  const end = `…${line.slice(1 - Math.floor(columns / 2))}`;
  return { text: columnsOf(line) <= columns ? line : end, look: "bold" };
}

function padded(lines: readonly ScreenLine[], count: number): readonly ScreenLine[] {
  const missing = Math.max(count - lines.length, 0);
  return [...lines, ...Array.from({ length: missing }, () => ({ text: "" }))];
}

/** Formats an age in four characters. */
function ageOf(ms: number): string {
  const seconds = Math.max(Math.floor(ms / 1_000), 0);
  const units = [
    ["d", 86_400],
    ["h", 3_600],
    ["m", 60],
  ] as const;
  for (const [unit, size] of units)
    if (seconds >= size) return `${Math.floor(seconds / size)}${unit}`;
  return `${seconds}s`;
}
