import type { V1OwnerReference } from "@kubernetes/client-node";
import { abortable } from "@reeve/platform/async/abortable";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import type { ClusterRequest } from "./cluster-failure.ts";
import type { Cluster } from "./cluster.ts";
import { labels } from "./spec.ts";
import { deleteObject } from "./pod-sessions.ts";
import { rightsTo } from "./session-source.ts";

const group = "coordination.k8s.io";
const renewMs = 20_000;
/** How long a lease may stay unchanged before its holder counts as gone. */
const expiryMs = 90_000;
const requestMs = 10_000;
const name = "toolhost-presence";

export const leaseRights = rightsTo(group, "leases", "create get list update delete");

const leaseOf = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    uid: z.string(),
    resourceVersion: z.string().optional(),
  }),
  spec: z.looseObject({ renewTime: z.string().optional() }),
});
const listed = z.object({ items: z.array(leaseOf) });
type Lease = z.infer<typeof leaseOf>;

/** The last observed change of a lease. */
interface Observation {
  readonly renewTime: string | undefined;
  readonly sinceMs: number;
}

/**
 * Holds a lease that shows other toolhosts that this one is alive, from its first sandbox on, and checks the leases of
 * others. Clocks are not compared: a holder is gone if its lease stays unchanged or missing for long enough on the clock of
 * the observer. Observers delete expired leases; holders never delete their own.
 */
export class OwnerLease {
  readonly #cluster: Cluster;
  readonly #owner: string;
  readonly #observed = new Map<string, Observation>();
  #lease: Promise<Lease> | undefined;

  constructor(cluster: Cluster, owner: string) {
    this.#cluster = cluster;
    this.#owner = owner;
  }

  /**
   * Creates the lease, which must exist before the first object of its owner. Returns the reference with which these objects
   * name it as their controller: the cluster deletes them when the lease is deleted. Throws a Failure.
   */
  async acquire(signal: AbortSignal): Promise<V1OwnerReference> {
    signal.throwIfAborted();
    this.#lease ??= this.#start();
    const { metadata } = await abortable(this.#lease, signal);
    const { name, uid } = metadata;
    return { apiVersion: `${group}/v1`, kind: "Lease", name, uid, controller: true };
  }

  /** Creates the lease for all callers, independent of the signal of each. */
  async #start(): Promise<Lease> {
    try {
      const lease = await this.#write(undefined, AbortSignal.timeout(requestMs));
      setInterval(() => this.#renew(), renewMs).unref();
      return lease;
    } catch (error) {
      this.#lease = undefined;
      throw error;
    }
  }

  /**
   * Returns the members of `owners`, the owners of all listed sandboxes, that are gone. List the sandboxes first: each of their
   * owners then has had a lease. Also deletes the expired leases of owners without sandboxes.
   */
  async goneOwners(owners: ReadonlySet<string>, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const selector = encodeURIComponent(`${labels.name}=${name}`);
    const path = `${this.#path()}?labelSelector=${selector}`;
    const { items } = listed.parse(await this.#cluster.request({ method: "GET", path }, signal));
    const leases = new Map(items.map(({ metadata, spec }) => [metadata.name, spec.renewTime]));
    const gone = new Set<string>();
    for (const owner of new Set([...owners, ...leases.keys()])) {
      if (owner === this.#owner || this.#isFresh(owner, leases.get(owner))) continue;
      if (owners.has(owner)) gone.add(owner);
      // An expired lease without sandboxes is no longer needed.
      else await deleteObject(this.#cluster, this.#path(owner), signal);
    }
    for (const owner of this.#observed.keys()) {
      if (!owners.has(owner) && !leases.has(owner)) this.#observed.delete(owner);
    }
    return gone;
  }

  #isFresh(owner: string, renewTime: string | undefined): boolean {
    const last = this.#observed.get(owner);
    if (last !== undefined && last.renewTime === renewTime) {
      return performance.now() - last.sinceMs < expiryMs;
    }
    this.#observed.set(owner, { renewTime, sinceMs: performance.now() });
    return true;
  }

  #renew(): void {
    const lease = this.#lease;
    if (lease === undefined) return;
    const renewed = lease.then((held) => this.#write(held, AbortSignal.timeout(requestMs)));
    // After a failed write, the previous lease is kept and renewed next time.
    this.#lease = renewed.catch(() => lease);
  }

  async #write(held: Lease | undefined, signal: AbortSignal): Promise<Lease> {
    const renewTime = new Date().toISOString().replace(/Z$/, "000Z");
    const seconds = expiryMs / 1_000;
    const spec = { holderIdentity: this.#owner, leaseDurationSeconds: seconds, renewTime };
    const metadata = { name: this.#owner, labels: { [labels.name]: name } };
    const object = { apiVersion: `${group}/v1`, kind: "Lease", metadata, spec };
    try {
      return held === undefined
        ? await this.#request({ method: "POST", path: this.#path(), body: object }, signal)
        : await this.#request(
            {
              method: "PUT",
              path: this.#path(this.#owner),
              body: { ...object, metadata: held.metadata },
            },
            signal,
          );
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.kind === "not_found" && held !== undefined) {
        return await this.#write(undefined, signal);
      }
      if (error.kind !== "conflict") throw error;
      // An earlier write succeeded but its answer was lost. The stored lease is renewed next time.
      return await this.#request({ method: "GET", path: this.#path(this.#owner) }, signal);
    }
  }

  async #request(request: ClusterRequest, signal: AbortSignal): Promise<Lease> {
    return leaseOf.parse(await this.#cluster.request(request, signal));
  }

  #path(owner?: string): string {
    const all = `/apis/${group}/v1/namespaces/${this.#cluster.namespace}/leases`;
    return owner === undefined ? all : `${all}/${owner}`;
  }
}
