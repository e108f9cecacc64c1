import { Backoff } from "@reeve/platform/async/retry/backoff";
import { sleep } from "@reeve/platform/async/sleep";
import { Failure } from "@reeve/platform/failure";
import type { Cluster } from "./cluster.ts";
import type { Pod } from "./pod-state.ts";
import { readPod } from "./pod-state.ts";

/** Duration of one watch. A watch may be slow or silent forever, so the pod is read again afterwards. */
const watchS = 5;
const retryDelays = { firstDelayMs: 200, maxDelayMs: 3_000 };

/**
 * Waits until a pod meets a condition, and returns the pod; undefined if there is no such pod any more. A watch that breaks,
 * is too old (410), or is silent is started again from the current state. Throws the signal's reason, or a Failure if the
 * API server refuses.
 */
export async function waitForPod(
  cluster: Cluster,
  name: string,
  isDone: (pod: Pod) => boolean,
  signal: AbortSignal,
): Promise<Pod | undefined> {
  const backoff = new Backoff(retryDelays);
  for (;;) {
    signal.throwIfAborted();
    try {
      const found = await findPod(cluster, name, signal);
      if (found === undefined || isDone(found)) return found;
      const changed = await watchPod(cluster, found, isDone, signal);
      if (changed !== undefined) return changed;
      backoff.reset();
    } catch (error) {
      if (!(error instanceof Failure) || !isTemporary(error)) throw error;
      await sleep(backoff.next(), signal);
    }
  }
}

/** Reads a pod. Undefined if there is none of this name. */
async function findPod(
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

/** Watches a pod until it meets the condition. Undefined if it has to be read again. */
async function watchPod(
  cluster: Cluster,
  { metadata: { name, resourceVersion = "" } }: Pod,
  isDone: (pod: Pod) => boolean,
  signal: AbortSignal,
): Promise<Pod | undefined> {
  const query = new URLSearchParams({
    watch: "1",
    fieldSelector: `metadata.name=${name}`,
    resourceVersion,
    timeoutSeconds: String(watchS),
  });
  const timeout = AbortSignal.timeout((watchS + 1) * 1_000);
  const path = `/api/v1/namespaces/${cluster.namespace}/pods?${query.toString()}`;
  const events = cluster.watch(path, AbortSignal.any([signal, timeout]));
  for await (const { type, object } of events) {
    if (type === "ERROR" || type === "DELETED") return undefined;
    if (type !== "ADDED" && type !== "MODIFIED") continue;
    const pod = readPod(object);
    if (isDone(pod)) return pod;
  }
  return undefined;
}

/** Returns whether an error is temporary: an API server that does not answer, or a watch that is too old. */
function isTemporary({ kind }: Failure): boolean {
  return kind === "unavailable" || kind === "out_of_range";
}
