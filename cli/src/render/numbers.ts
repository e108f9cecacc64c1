import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { CostSummary } from "@reeve/contracts/run";

export function formatMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(1)} KiB`;
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** Formats the calls, tokens, and dollars of a run as one phrase. */
export function formatCost(cost: CostSummary): string {
  const tokens = `${formatCount(cost.inputTokens)} + ${formatCount(cost.outputTokens)} tokens`;
  const dollars = formatPrice(cost, "price unknown");
  const calls = [plural(cost.llmCalls, "model call"), plural(cost.toolCalls, "tool call")];
  return [...calls, tokens, dollars].join(" · ");
}

/** Formats the dollars of a run, or returns `unknown` if its model has no price. */
export function formatPrice({ costUsd }: Pick<CostSummary, "costUsd">, unknown: string): string {
  return costUsd === undefined ? unknown : `$${formatDollars(costUsd)}`;
}

export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Returns milliseconds since the epoch, with fractions. */
export function millisOf({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1_000 + nanos / 1_000_000;
}

function formatDollars(dollars: number): string {
  return dollars >= 1 ? dollars.toFixed(2) : Number(dollars.toPrecision(2)).toString();
}
