import type { Approval } from "@reeve/contracts/approval";
import { openRunLog } from "@reeve/jetstream/log/open";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Cluster } from "../cluster.ts";
import type { Figure } from "../figure.ts";
import type { ParkedRange } from "./parked-runs.ts";
import { approvalIdOf, parkRun } from "./parked-runs.ts";

const log = createLogger("bench", "silent");

/**
 * Measures how long a watcher waits for all pending approvals, and then for each of some new ones, from the append of its
 * request to the log of its run. The floor is the append.
 */
export async function* watchFigures(
  cluster: Cluster,
  { requests, pending }: { readonly requests: ParkedRange; readonly pending: number },
  signal: AbortSignal,
): AsyncIterable<Figure> {
  const unit = "ms";
  await using nats = await connectNats(cluster.natsUrl, { name: "bench", log }, signal);
  const runLog = await openRunLog(nats);
  const end = new AbortController();
  const until = AbortSignal.any([signal, end.signal]);
  const watcher = new Watcher(cluster, until);
  try {
    const startedAt = performance.now();
    const values = [(await watcher.count(pending)) - startedAt];
    yield { name: `all to a new watcher, ${pending} pending`, unit, values };
    const floors: number[] = [];
    const arrivals: number[] = [];
    for (let at = requests.from; at < requests.from + requests.count; at++) {
      const requestedAt = performance.now();
      const append = async () => {
        await parkRun(runLog, at, signal);
        floors.push(performance.now() - requestedAt);
      };
      const [arrivedAt] = await Promise.all([watcher.find(approvalIdOf(at)), append()]);
      arrivals.push(arrivedAt - requestedAt);
    }
    const name = `from a request to its watcher, ${pending} pending`;
    yield { name, unit, values: arrivals, floors };
  } finally {
    end.abort();
  }
}

/** The inbox as a client that watches it receives it. */
class Watcher {
  readonly #messages: AsyncIterator<{ readonly approvals: readonly Approval[] }>;

  constructor({ reeve }: Cluster, signal: AbortSignal) {
    this.#messages = reeve.approvals.watchApprovals({}, { signal })[Symbol.asyncIterator]();
  }

  /** Resolves with the time at which the watcher had a number of approvals. */
  async count(wanted: number): Promise<number> {
    for (let seen = 0; seen < wanted;) seen += (await this.#next()).length;
    return performance.now();
  }

  /** Resolves with the time at which an approval arrived. */
  async find(wanted: string): Promise<number> {
    while (!(await this.#next()).some(({ approvalId }) => approvalId === wanted));
    return performance.now();
  }

  async #next(): Promise<readonly Approval[]> {
    const { value, done } = await this.#messages.next();
    if (done === true) throw new Error("the inbox ended");
    return value.approvals;
  }
}
