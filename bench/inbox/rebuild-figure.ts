import { setTimeout } from "node:timers/promises";
import { toBinary } from "@bufbuild/protobuf";
import { ApprovalSchema } from "@reeve/contracts/approval";
import { bucketOf } from "@reeve/contracts/channel";
import type { Projection } from "@reeve/contracts/projection";
import { ProjectionSchema } from "@reeve/contracts/projection";
import { openTable } from "@reeve/jetstream/table/nats";
import type { Table } from "@reeve/jetstream/table/port";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Cluster } from "../cluster.ts";
import type { Figure } from "../figure.ts";

const log = createLogger("bench", "silent");
const pollMs = 250;

/** Deletes the bucket of the inbox, and measures until the services list the same approvals again. Listing them once takes part of it. */
export async function rebuildFigure(cluster: Cluster, signal: AbortSignal): Promise<Figure> {
  await using nats = await connectNats(cluster.natsUrl, { name: "bench", log }, signal);
  const { name } = bucketOf(ApprovalSchema);
  const states = await openTable(nats, ProjectionSchema);
  const before = await listed(cluster, signal);
  const instance = (await states.get(name, signal))?.record.bucketInstance ?? "";
  const startedAt = performance.now();
  const stream = `KV_${name}`;
  const reply = await nats.connection.request(`$JS.API.STREAM.DELETE.${stream}`, undefined, {
    timeout: 60_000,
  });
  const { success } = reply.json<{ readonly success?: boolean }>();
  if (success !== true) throw new Error(`the store did not delete ${stream}`);
  await rebuilt(states, { name, instance }, signal);
  while (!isEqual(before, await listed(cluster, signal).catch(() => new Map<string, string>()))) {
    await setTimeout(pollMs, undefined, { signal });
  }
  const values = [(performance.now() - startedAt) / 1_000];
  return {
    name: `bucket deleted, until an equal list of ${before.size} approvals`,
    unit: "s",
    values,
  };
}

/** Resolves when another bucket has been filled. */
async function rebuilt(
  states: Table<Projection>,
  { name, instance }: { readonly name: string; readonly instance: string },
  signal: AbortSignal,
): Promise<void> {
  for await (const change of states.watch("", signal)) {
    if (change.kind !== "written" || change.row.key !== name) continue;
    const { bucketInstance, rebuild } = change.row.record;
    if (bucketInstance !== instance && rebuild?.endedAt !== undefined) return;
  }
}

/** Returns every approval, with its bytes, by its id. */
async function listed(
  { reeve }: Cluster,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  let pageToken = "";
  do {
    const request = { pageSize: 1_000, includeClosed: true, pageToken };
    const { approvals, nextPageToken } = await reeve.approvals.listApprovals(request, { signal });
    for (const each of approvals) {
      found.set(each.approvalId, Buffer.from(toBinary(ApprovalSchema, each)).toString("base64"));
    }
    pageToken = nextPageToken;
  } while (pageToken !== "");
  return found;
}

function isEqual(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([id, bytes]) => b.get(id) === bytes);
}
