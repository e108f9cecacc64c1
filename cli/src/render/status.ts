import type { Duration } from "@bufbuild/protobuf/wkt";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { GetDeploymentResponse, ModelActivity, QuotaLimit } from "@reeve/client";
import { QueueKind } from "@reeve/contracts/operations";
import type { Style } from "../style.ts";
import { formatBytes, formatMs, formatPrice } from "./numbers.ts";
import { oneLine, plainText } from "./plain-text.ts";
import { table } from "./table.ts";

interface ShownStatus {
  readonly deployment: GetDeploymentResponse | undefined;
  readonly models: readonly ModelActivity[];
  readonly quotas: readonly QuotaLimit[];
}

interface RenderOptions {
  readonly style: Style;
  readonly nowMs: number;
}

/** Renders the status of a deployment as tables, without those that have no rows. */
export function renderStatus(
  { deployment, models, quotas }: ShownStatus,
  { style, nowMs }: RenderOptions,
): string {
  const parts = [
    ...(deployment === undefined ? [] : deploymentParts(deployment, { style, nowMs })),
    models.length === 0
      ? "no model was called in the last hour\n"
      : table(
          ["MODEL", "CALLS", "FAILED", "HALF WITHIN", "95% WITHIN", "COST", "FAILED LAST"],
          models.map(modelRow),
        ),
    quotas.length === 0 ? "" : table(["QUOTA", "LIMIT", "USED", "MAX"], quotas.map(quotaRow)),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function deploymentParts(
  { workers, toolhosts, queues, feeds, store, problems }: GetDeploymentResponse,
  { style, nowMs }: RenderOptions,
): readonly string[] {
  return [
    problems.map((problem) => `${style("yellow", plainText(problem))}\n`).join(""),
    workers.length === 0
      ? `${style("red", "no worker has reported itself")}\n`
      : table(
          ["WORKER", "STATE", "RUNS", "UP FOR"],
          workers.map(({ name, draining, active, slots, since }) => [
            oneLine(name, 64),
            draining ? "draining" : "ready",
            `${active}/${slots}`,
            since === undefined ? "" : formatMs(Math.max(0, nowMs - timestampMs(since))),
          ]),
        ),
    toolhosts.length === 0
      ? `${style("red", "no toolhost is present")}\n`
      : table(
          ["TOOLHOST", "POOL", "STATE", "CALLS", "ISOLATION", "WORKSPACES", "WARM", "SPARE"],
          toolhosts.map((host) => [
            oneLine(host.name, 64),
            oneLine(host.pool, 64),
            host.draining ? "draining" : "ready",
            `${host.busy}/${host.slots}`,
            oneLine(host.isolation, 32),
            String(host.workspaces),
            String(host.warmSandboxes),
            String(host.spareSandboxes),
          ]),
        ),
    table(
      ["QUEUE", "WAITING", "TAKEN", "REDELIVERED", "OLDEST"],
      queues.map(({ kind, name, waiting, taken, redelivered, oldestAge }) => [
        queueName(kind, name),
        String(waiting),
        String(taken),
        String(redelivered),
        ageOf(oldestAge),
      ]),
    ),
    feeds.length === 0
      ? ""
      : table(
          ["FEED", "BEHIND"],
          feeds.map(({ name, batchesBehind }) => [oneLine(name, 64), String(batchesBehind)]),
        ),
    store === undefined ? "" : storeLine(store, style),
  ];
}

function queueName(kind: QueueKind, name: string): string {
  return `${queueKinds[kind] ?? "queue"} ${oneLine(name, 64)}`.trim();
}

const queueKinds: Readonly<Record<number, string>> = {
  [QueueKind.RUNS]: "runs",
  [QueueKind.TOOL_CALLS]: "calls of pool",
  [QueueKind.NOTIFICATIONS]: "notifications for",
};

function storeLine(
  { bytes, maxBytes, reserveInUse }: NonNullable<GetDeploymentResponse["store"]>,
  style: Style,
): string {
  const limit = maxBytes === 0n ? "" : ` of ${formatBytes(Number(maxBytes))}`;
  const full = reserveInUse ? style("red", "; full: nothing new is accepted") : "";
  return `store ${formatBytes(Number(bytes))}${limit}${full}\n`;
}

function modelRow(activity: ModelActivity): readonly string[] {
  const { provider, model, calls, failures, costUsd, unpricedCalls, failedRunIds } = activity;
  const hasPrice = unpricedCalls === 0 || costUsd > 0;
  const price = formatPrice(hasPrice ? { costUsd } : {}, "not known");
  return [
    oneLine(`${provider}:${model}`, 64),
    String(calls),
    String(failures),
    within(activity.medianDuration, calls),
    within(activity.p95Duration, calls),
    unpricedCalls > 0 && costUsd > 0 ? `${price} + ${unpricedCalls} not known` : price,
    oneLine(failedRunIds[0] ?? "", 64),
  ];
}

function quotaRow({ quota, limit, used, max }: QuotaLimit): readonly string[] {
  const isCost = limit === "cost_per_day_usd";
  const amount = (value: number) => (isCost ? formatPrice({ costUsd: value }, "") : String(value));
  return [oneLine(quota, 64), limit, used === undefined ? "-" : amount(used), amount(max)];
}

function within(duration: Duration | undefined, calls: number): string {
  if (calls === 0) return "";
  return duration === undefined ? "longer" : formatMs(msOf(duration));
}

function ageOf(duration: Duration | undefined): string {
  return duration === undefined ? "" : formatMs(msOf(duration));
}

function msOf({ seconds, nanos }: Duration): number {
  return Number(seconds) * 1_000 + nanos / 1e6;
}
