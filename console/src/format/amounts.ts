import type { ApprovalCount } from "@reeve/contracts/approval";
import type { CostSummary } from "@reeve/contracts/run";

/** Formats a count with a comma for each thousand. */
export function formatCount(count: number): string {
  // `toLocaleString` loads the data of a locale first, which costs 30 ms of the first view.
  const rounded = Math.round(count * 1_000) / 1_000;
  return String(rounded).replace(/(?<!\.\d*)\B(?=(?:\d{3})+(?!\d))/g, ",");
}

export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Formats a count that may end at a limit: `100,000+`. */
export function shownCount(count: ApprovalCount | undefined): string {
  return `${formatCount(count?.count ?? 0)}${count?.isPartial === true ? "+" : ""}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(1)} KiB`;
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/** Formats dollars with two significant digits below a dollar. Undefined: a model without a price was called. */
export function formatDollars(dollars: number | undefined): string {
  if (dollars === undefined) return "no price";
  if (dollars === 0) return "$0";
  return dollars >= 1 ? `$${dollars.toFixed(2)}` : `$${Number(dollars.toPrecision(2))}`;
}

/** Formats the calls and tokens of a run as one phrase. */
export function formatCost(cost: CostSummary): string {
  return [
    plural(cost.llmCalls, "model call"),
    plural(cost.toolCalls, "tool call"),
    `${formatCount(cost.inputTokens)} tokens in`,
    `${formatCount(cost.outputTokens)} out`,
  ].join(" · ");
}
