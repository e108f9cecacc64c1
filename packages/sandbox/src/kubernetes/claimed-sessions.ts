import { setTimeout as wait } from "node:timers/promises";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import type { SessionSpec } from "../port.ts";
import type { Cluster } from "./cluster.ts";
import { labels, labelsOf, maxLifeS, sandboxName } from "./spec.ts";
import { attachRights, isPastDeadline, deleteObject } from "./pod-sessions.ts";
import type { AcquiredSession, SessionSource } from "./session-source.ts";
import { rightsTo } from "./session-source.ts";

const group = "extensions.agents.x-k8s.io";
const version = `/apis/${group}/v1beta1`;
const lookMs = { first: 50, longest: 1_000 };

export const claimRights = rightsTo(group, "sandboxclaims", "create get list delete");

const condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
});
const claimOf = z.object({
  metadata: z.object({ name: z.string(), labels: z.record(z.string(), z.string()).optional() }),
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
  /** The warm pool whose pods are claimed. */
  readonly pool: string;
}

/** Whether a cluster has agent-sandbox with the version that we speak. */
export async function hasClaims(cluster: Cluster, signal: AbortSignal): Promise<boolean> {
  try {
    await cluster.request({ method: "GET", path: version }, signal);
    return true;
  } catch (error) {
    if (error instanceof Failure && ["not_found", "denied"].includes(error.kind)) return false;
    throw error;
  }
}

/** A pod of a warm pool for each session, claimed from agent-sandbox, which gives it to nobody else and replaces it. */
export class ClaimedSessions implements SessionSource {
  readonly rights = [...attachRights, ...claimRights];
  readonly hasOwnUser = false;
  readonly #cluster: Cluster;
  readonly #options: ClaimOptions;

  constructor(cluster: Cluster, options: ClaimOptions) {
    this.#cluster = cluster;
    this.#options = options;
  }

  async acquire(sessionId: string, _: SessionSpec, signal: AbortSignal): Promise<string> {
    const { owner, pool } = this.#options;
    const now = Date.now();
    const { namespace } = this.#cluster;
    const metadata = { name: sessionId, namespace, labels: labelsOf(sessionId, owner, now) };
    const shutdownTime = new Date(now + maxLifeS * 1_000).toISOString();
    const body = {
      apiVersion: `${group}/v1beta1`,
      kind: "SandboxClaim",
      metadata,
      // Variables or volumes of our own would make it start cold.
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
    return items.map(({ metadata: { name, labels: given = {} }, status }) => ({
      sessionId: name,
      owner: given[labels.owner] ?? "",
      isOver: isTrue(status?.conditions, "Finished") || isPastDeadline(given[labels.deadline]),
    }));
  }

  /** The pod that a claim has got has the name of its sandbox. */
  async #podOf(sessionId: string, signal: AbortSignal): Promise<string> {
    const path = this.#path(sessionId);
    let why = "nobody has looked at it";
    for (let waitMs = lookMs.first; ; waitMs = Math.min(waitMs * 2, lookMs.longest)) {
      if (signal.aborted) throw notGiven(sessionId, this.#options.pool, why, signal.reason);
      const { status } = claimOf.parse(
        await this.#cluster.request({ method: "GET", path }, signal),
      );
      const name = status?.sandbox?.name ?? "";
      if (name !== "" && isTrue(status?.conditions, "Ready")) return name;
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      if (ready !== undefined) why = `${ready.reason ?? ""}: ${ready.message ?? ""}`;
      await wait(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  #path(name?: string): string {
    const all = `${version}/namespaces/${this.#cluster.namespace}/sandboxclaims`;
    return name === undefined ? all : `${all}/${name}`;
  }
}

function isTrue(conditions: readonly z.infer<typeof condition>[] = [], wanted: string): boolean {
  return conditions.some(({ type, status }) => type === wanted && status === "True");
}

function notGiven(sessionId: string, pool: string, why: string, cause: unknown): Failure {
  const problem = `the claim ${sessionId} got no pod of the warm pool ${pool} (${why}); see kubectl describe sandboxclaim, and whether the pool has pods`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause });
}
