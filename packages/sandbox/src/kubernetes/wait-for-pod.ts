import { setTimeout as wait } from "node:timers/promises";
import { Failure } from "@reeve/platform/failure";
import type { Cluster } from "./cluster.ts";
import type { Pod } from "./pod-state.ts";
import { readPod } from "./pod-state.ts";

/** A watch may be slow, or say nothing for ever: the pod is looked at again by then. */
const roundS = 5;
const firstRetryMs = 200;
const longestRetryMs = 3_000;

/**
 * Waits until a pod is as it is wanted, and gives it; undefined once there is no such pod. A watch that breaks, is too old
 * (410) or says nothing is begun again from what is there. Throws the reason of `signal`, or a Failure for what is refused.
 */
export async function waitForPod(
  cluster: Cluster,
  name: string,
  isWanted: (pod: Pod) => boolean,
  signal: AbortSignal,
): Promise<Pod | undefined> {
  let retryMs = firstRetryMs;
  for (;;) {
    signal.throwIfAborted();
    try {
      const found = await podNamed(cluster, name, signal);
      if (found === undefined || isWanted(found)) return found;
      const changed = await watched(cluster, found, isWanted, signal);
      if (changed !== undefined) return changed;
      retryMs = firstRetryMs;
    } catch (error) {
      if (!(error instanceof Failure) || !isPassing(error)) throw error;
      await wait(retryMs, undefined, { signal }).catch(() => undefined);
      retryMs = Math.min(retryMs * 2, longestRetryMs);
    }
  }
}

/** Undefined when there is none of this name. */
async function podNamed(
  cluster: Cluster,
  name: string,
  signal: AbortSignal,
): Promise<Pod | undefined> {
  const path = `/api/v1/namespaces/${cluster.namespace}/pods/${name}`;
  try {
    return readPod(await cluster.request({ method: "GET", path }, signal));
  } catch (error) {
    if (error instanceof Failure && error.kind === "not_found") return undefined;
    throw error;
  }
}

/** The pod once it is wanted; undefined when it has to be looked at again. */
async function watched(
  cluster: Cluster,
  { metadata: { name, resourceVersion = "" } }: Pod,
  isWanted: (pod: Pod) => boolean,
  signal: AbortSignal,
): Promise<Pod | undefined> {
  const query = new URLSearchParams({
    watch: "1",
    fieldSelector: `metadata.name=${name}`,
    resourceVersion,
    timeoutSeconds: String(roundS),
  });
  const round = AbortSignal.timeout((roundS + 1) * 1_000);
  const path = `/api/v1/namespaces/${cluster.namespace}/pods?${query.toString()}`;
  const events = cluster.watch(path, AbortSignal.any([signal, round]));
  for await (const { type, object } of events) {
    if (type === "ERROR" || type === "DELETED") return undefined;
    if (type !== "ADDED" && type !== "MODIFIED") continue;
    const pod = readPod(object);
    if (isWanted(pod)) return pod;
  }
  return undefined;
}

/** What is gone by itself: a cluster that is away, and a watch from too long ago. */
function isPassing({ kind }: Failure): boolean {
  return kind === "unavailable" || kind === "out_of_range";
}
