import { emptyTail } from "@reeve/jetstream/log/port";
import type { ThreadKey, ThreadLog } from "@reeve/jetstream/log/thread-log";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import { partsOf } from "@reeve/run/thread/read-thread";
import type { GatewayPorts } from "../gateway-ports.ts";

/** How much of the log of a thread is read at a time. */
const maxBytes = 4 * 1024 * 1024;

/** Deletes the artifacts that runs of a tenant created. */
export async function deleteArtifactsOf(
  artifacts: Pick<ArtifactStore, "list" | "delete">,
  tenant: string,
  runIds: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  if (runIds.size === 0) return;
  for (const { artifactId, runId } of await artifacts.list(tenant, signal)) {
    if (runIds.has(runId)) await artifacts.delete(tenant, artifactId, signal);
  }
}

/** Deletes the artifacts that the deleted runs of a thread left to its conversation. */
export async function deleteArtifactsOfThread(
  { artifacts, threads, logEnds }: Pick<GatewayPorts, "artifacts" | "threads" | "logEnds">,
  key: ThreadKey,
  signal: AbortSignal,
): Promise<void> {
  const { tenant } = key;
  const turns = await turnsOf(threads, key, signal);
  const owners = new Set((await artifacts.list(tenant, signal)).map(({ runId }) => runId));
  const deleted = new Set<string>();
  for (const run of owners) {
    if (!turns.has(run)) continue;
    const { tail } = await logEnds.last({ tenant, run }, signal);
    if (tail.sequence === 0) deleted.add(run);
  }
  await deleteArtifactsOf(artifacts, tenant, deleted, signal);
}

/** Returns the ids of all runs that were turns of a thread. */
async function turnsOf(
  threads: ThreadLog,
  key: ThreadKey,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const turns = new Set<string>();
  const whole = { after: emptyTail, maxBytes };
  for await (const { events } of partsOf(threads, key, whole, signal)) {
    for (const { event } of events) {
      if (event.case === "turnQueued") turns.add(event.value.runId);
    }
  }
  return turns;
}
