import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import type { Cluster } from "./cluster.ts";
import { labels } from "./spec.ts";
import { deleteObject } from "./pod-sessions.ts";
import { rightsTo } from "./session-source.ts";

const group = "coordination.k8s.io";
const renewMs = 20_000;
/** How long a lease may stay as it is before its holder counts as gone. */
const patienceMs = 90_000;
const askMs = 10_000;
const name = "toolhost-presence";

export const leaseRights = rightsTo(group, "leases", "create get list update delete");

const leaseOf = z.looseObject({
  metadata: z.looseObject({ name: z.string(), resourceVersion: z.string().optional() }),
  spec: z.looseObject({ renewTime: z.string().optional() }),
});
const listed = z.object({ items: z.array(leaseOf) });
type Lease = z.infer<typeof leaseOf>;

interface Seen {
  readonly renewTime: string | undefined;
  readonly since: number;
}

/**
 * A lease by which others see that this toolhost lives, from its first sandbox on; and whether others do. Clocks are not
 * compared: a holder is gone when its lease stays as it is, or away, for long enough by the clock of whoever looks. A lease
 * is not taken away by its holder but by whoever finds it old.
 */
export class OwnerLease {
  readonly #cluster: Cluster;
  readonly #owner: string;
  readonly #seen = new Map<string, Seen>();
  #lease: Promise<Lease> | undefined;

  constructor(cluster: Cluster, owner: string) {
    this.#cluster = cluster;
    this.#owner = owner;
  }

  /** Is there before anything is made in its name. Throws a Failure. */
  async acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#lease ??= this.#begun();
    await unlessAborted(this.#lease, signal);
  }

  /** For all that wait for it, whoever of them aborts. */
  async #begun(): Promise<Lease> {
    try {
      const lease = await this.#written(undefined, AbortSignal.timeout(askMs));
      setInterval(() => this.#renew(), renewMs).unref();
      return lease;
    } catch (error) {
      this.#lease = undefined;
      throw error;
    }
  }

  /** Of these owners, those that are gone. Whatever is asked about has been listed before. */
  async goneOwners(owners: ReadonlySet<string>, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const selector = encodeURIComponent(`${labels.name}=${name}`);
    const path = `${this.#path()}?labelSelector=${selector}`;
    const { items } = listed.parse(await this.#cluster.request({ method: "GET", path }, signal));
    const leases = new Map(items.map(({ metadata, spec }) => [metadata.name, spec.renewTime]));
    const gone = new Set<string>();
    for (const owner of new Set([...owners, ...leases.keys()])) {
      if (owner === this.#owner || this.#isFresh(owner, leases.get(owner))) continue;
      if (owners.has(owner)) gone.add(owner);
      // A lease without sandboxes is nothing but a trace.
      else await deleteObject(this.#cluster, this.#path(owner), signal);
    }
    for (const owner of this.#seen.keys()) {
      if (!owners.has(owner) && !leases.has(owner)) this.#seen.delete(owner);
    }
    return gone;
  }

  #isFresh(owner: string, renewTime: string | undefined): boolean {
    const seen = this.#seen.get(owner);
    if (seen !== undefined && seen.renewTime === renewTime) {
      return performance.now() - seen.since < patienceMs;
    }
    this.#seen.set(owner, { renewTime, since: performance.now() });
    return true;
  }

  #renew(): void {
    const lease = this.#lease;
    if (lease === undefined) return;
    const renewed = lease.then((held) => this.#written(held, AbortSignal.timeout(askMs)));
    // The one before is kept where this one could not be written; it is renewed next time.
    this.#lease = renewed.catch(() => lease);
  }

  async #written(held: Lease | undefined, signal: AbortSignal): Promise<Lease> {
    const renewTime = new Date().toISOString().replace(/Z$/, "000Z");
    const seconds = patienceMs / 1_000;
    const spec = { holderIdentity: this.#owner, leaseDurationSeconds: seconds, renewTime };
    const metadata = { name: this.#owner, labels: { [labels.name]: name } };
    const made = { apiVersion: `${group}/v1`, kind: "Lease", metadata, spec };
    try {
      return held === undefined
        ? await this.#told({ method: "POST", path: this.#path(), body: made }, signal)
        : await this.#told(
            {
              method: "PUT",
              path: this.#path(this.#owner),
              body: { ...made, metadata: held.metadata },
            },
            signal,
          );
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.kind === "not_found" && held !== undefined) {
        return await this.#written(undefined, signal);
      }
      if (error.kind !== "conflict") throw error;
      // It was written, and the answer was lost: what is there is renewed the next time.
      return await this.#told({ method: "GET", path: this.#path(this.#owner) }, signal);
    }
  }

  async #told(asking: Parameters<Cluster["request"]>[0], signal: AbortSignal): Promise<Lease> {
    return leaseOf.parse(await this.#cluster.request(asking, signal));
  }

  #path(owner?: string): string {
    const all = `/apis/${group}/v1/namespaces/${this.#cluster.namespace}/leases`;
    return owner === undefined ? all : `${all}/${owner}`;
  }
}

async function unlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
