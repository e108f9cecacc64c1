import { ErrorReason } from "@reeve/contracts/error";
import { Backoff } from "@reeve/platform/async/retry/backoff";
import { sleep } from "@reeve/platform/async/sleep";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import type { Cluster } from "./cluster.ts";
import { labels, labelsOf, maxLifeS, sandboxName } from "./spec.ts";
import { attachRights, isPastDeadline, deleteObject } from "./pod-sessions.ts";
import type { AcquiredSession, SessionRequest, SessionSource } from "./session-source.ts";
import { rightsTo } from "./session-source.ts";

const group = "extensions.agents.x-k8s.io";
const version = `/apis/${group}/v1beta1`;
const pollDelays = { firstDelayMs: 50, maxDelayMs: 1_000 };

export const claimRights = rightsTo(group, "sandboxclaims", "create get list delete");

const condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
});
const claimOf = z.object({
  metadata: z.object({
    name: z.string(),
    deletionTimestamp: z.string().optional(),
    labels: z.record(z.string(), z.string()).optional(),
  }),
  status: z
    .object({
      conditions: z.array(condition).optional(),
      sandbox: z.object({ name: z.string().optional() }).optional(),
    })
    .optional(),
});
const listed = z.object({ items: z.array(claimOf) });

export interface ClaimOptions {
  readonly owner: string;
  /** SandboxWarmPool from which pods are claimed. */
  readonly pool: string;
}

/** Returns whether a cluster has agent-sandbox with the API version of this client. */
export async function hasClaims(cluster: Cluster, signal: AbortSignal): Promise<boolean> {
  try {
    await cluster.request({ method: "GET", path: version }, signal);
    return true;
  } catch (error) {
    if (error instanceof Failure && ["not_found", "denied"].includes(error.kind)) return false;
    throw error;
  }
}

/** Claims a pod of a warm pool for each session. agent-sandbox assigns each pod to one claim only, and replaces it. */
export class ClaimedSessions implements SessionSource {
  readonly rights = [...attachRights, ...claimRights];
  readonly hasOwnUser = false;
  readonly #cluster: Cluster;
  readonly #options: ClaimOptions;

  constructor(cluster: Cluster, options: ClaimOptions) {
    this.#cluster = cluster;
    this.#options = options;
  }

  async acquire({ sessionId }: SessionRequest, signal: AbortSignal): Promise<string> {
    const { owner, pool } = this.#options;
    const now = Date.now();
    const { namespace } = this.#cluster;
    const metadata = { name: sessionId, namespace, labels: labelsOf(sessionId, owner, now) };
    const shutdownTime = new Date(now + maxLifeS * 1_000).toISOString();
    const body = {
      apiVersion: `${group}/v1beta1`,
      kind: "SandboxClaim",
      metadata,
      // A claim with its own variables or volumes would start a new pod.
      spec: {
        warmPoolRef: { name: pool },
        lifecycle: { shutdownTime, shutdownPolicy: "Delete", ttlSecondsAfterFinished: 60 },
      },
    };
    await this.#cluster.request({ method: "POST", path: this.#path(), body }, signal);
    return await this.#podOf(sessionId, signal);
  }

  async release(sessionId: string, signal: AbortSignal): Promise<void> {
    await deleteObject(this.#cluster, this.#path(sessionId), signal);
  }

  async list(signal: AbortSignal): Promise<readonly AcquiredSession[]> {
    const selector = encodeURIComponent(`${labels.name}=${sandboxName},${labels.session}`);
    const path = `${this.#path()}?labelSelector=${selector}`;
    const { items } = listed.parse(await this.#cluster.request({ method: "GET", path }, signal));
    const kept = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return kept.map(({ metadata: { name, labels: given = {} }, status }) => ({
      sessionId: name,
      owner: given[labels.owner] ?? "",
      isOver: isTrue(status?.conditions, "Finished") || isPastDeadline(given[labels.deadline]),
    }));
  }

  /** Waits for the pod of a claim, and returns its name, which is that of the sandbox. */
  async #podOf(sessionId: string, signal: AbortSignal): Promise<string> {
    const path = this.#path(sessionId);
    const polls = new Backoff(pollDelays);
    let status = "it has no status yet";
    for (;;) {
      if (signal.aborted) throw notReady(sessionId, this.#options.pool, status, signal.reason);
      const claim = claimOf.parse(await this.#cluster.request({ method: "GET", path }, signal));
      const { conditions, sandbox: { name = "" } = {} } = claim.status ?? {};
      if (name !== "" && isTrue(conditions, "Ready")) return name;
      const ready = conditions?.find(({ type }) => type === "Ready");
      if (ready !== undefined) status = `${ready.reason ?? ""}: ${ready.message ?? ""}`;
      await sleep(polls.next(), signal).catch(() => undefined);
    }
  }

  #path(name?: string): string {
    const all = `${version}/namespaces/${this.#cluster.namespace}/sandboxclaims`;
    return name === undefined ? all : `${all}/${name}`;
  }
}

function isTrue(
  conditions: readonly z.infer<typeof condition>[] = [],
  conditionType: string,
): boolean {
  return conditions.some(({ type, status }) => type === conditionType && status === "True");
}

function notReady(sessionId: string, pool: string, status: string, cause: unknown): Failure {
  const problem = `the claim ${sessionId} got no pod from the warm pool ${pool} (${status}); check kubectl describe sandboxclaim, and that the pool has pods`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause });
}
