import { randomInt } from "node:crypto";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import type { Cluster } from "./cluster.ts";
import { labels, podManifest, sandboxName } from "./spec.ts";
import type { Pod } from "./pod-state.ts";
import { readPod, stateOfPod } from "./pod-state.ts";
import type { AcquiredSession, SessionRequest, SessionSource } from "./session-source.ts";
import { rightsTo } from "./session-source.ts";

const listed = z.object({ items: z.array(z.unknown()) });
/** Range of user ids, above those that machines assign to people and services. */
const userIds = { first: 200_000, end: 2_000_000_000 };

/** Rights to use an existing pod. Attaching requires `get`, and since Kubernetes 1.35 `create` as well. */
export const attachRights = [
  ...rightsTo("", "pods", "get list watch"),
  ...rightsTo("", "pods/attach", "get create"),
];

export const podRights = [...attachRights, ...rightsTo("", "pods", "create delete")];

export interface PodOptions {
  readonly owner: string;
  readonly image: string;
  readonly runtimeClass: string | undefined;
}

/** Creates a pod for each session. */
export class PodSessions implements SessionSource {
  readonly rights = podRights;
  readonly hasOwnUser = true;
  readonly #cluster: Cluster;
  readonly #options: PodOptions;

  constructor(cluster: Cluster, options: PodOptions) {
    this.#cluster = cluster;
    this.#options = options;
  }

  async acquire(
    { sessionId, spec, controller }: SessionRequest,
    signal: AbortSignal,
  ): Promise<string> {
    const body = podManifest(spec, {
      ...this.#options,
      controller,
      name: sessionId,
      namespace: this.#cluster.namespace,
      uid: randomInt(userIds.first, userIds.end),
      now: Date.now(),
    });
    await this.#cluster.request({ method: "POST", path: this.#path(), body }, signal);
    return sessionId;
  }

  async release(sessionId: string, signal: AbortSignal): Promise<void> {
    await deleteObject(this.#cluster, this.#path(sessionId), signal);
  }

  async list(signal: AbortSignal): Promise<readonly AcquiredSession[]> {
    const selector = encodeURIComponent(`${labels.name}=${sandboxName},${labels.session}`);
    const path = `${this.#path()}?labelSelector=${selector}`;
    const { items } = listed.parse(await this.#cluster.request({ method: "GET", path }, signal));
    return items
      .map(readPod)
      .filter(isKept)
      .map((pod) => {
        const { name, labels: given = {} } = pod.metadata;
        const isOver = stateOfPod(pod).kind === "over" || isPastDeadline(given[labels.deadline]);
        return { sessionId: name, owner: given[labels.owner] ?? "", isOver };
      });
  }

  #path(name?: string): string {
    const all = `/api/v1/namespaces/${this.#cluster.namespace}/pods`;
    return name === undefined ? all : `${all}/${name}`;
  }
}

/** A pod that is being deleted, which may take its grace period, needs nobody who deletes it. */
function isKept({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp === undefined;
}

/** Deletes an object of the cluster. A missing object is not an error. */
export async function deleteObject(
  cluster: Cluster,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await cluster.request({ method: "DELETE", path }, signal);
  } catch (error) {
    if (error instanceof Failure && error.kind === "not_found") return;
    throw error;
  }
}

/** Returns whether a deadline in seconds since 1970 is past. An unreadable deadline is not. */
export function isPastDeadline(deadline: string | undefined): boolean {
  return Number(deadline) * 1_000 < Date.now();
}
