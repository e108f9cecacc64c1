import type { Cluster } from "./cluster.ts";
import type { Figure } from "./figure.ts";
import type { Usage } from "./process-usage.ts";

/** The memory of each process of a cluster at one time. */
export interface Held {
  readonly kept: ReadonlyMap<string, number>;
  readonly usage: ReadonlyMap<string, Usage>;
}

/** Yields each process's growth per run, for `count` runs: the retained heap and the resident memory. */
export async function* memoryOf(
  cluster: Cluster,
  before: Held,
  count: number,
  signal: AbortSignal,
): AsyncIterable<Figure> {
  const unit = "KiB";
  const each = (bytes: number) => bytes / count / 1024;
  const now = cluster.usage();
  const kept = await cluster.keptBytes(signal);
  let keptInAll = 0;
  let residentInAll = 0;
  for (const [name, { rssBytes }] of now) {
    const service = serviceOf(name);
    const resident = each(rssBytes - (before.usage.get(name)?.rssBytes ?? 0));
    residentInAll += resident;
    const bytes = kept.get(name);
    // NATS has no heap to inspect, so its resident memory counts as retained.
    const keeps = bytes === undefined ? resident : each(bytes - (before.kept.get(name) ?? 0));
    keptInAll += keeps;
    yield { name: `a waiting run, retained by ${service}`, unit, values: [keeps] };
    yield { name: `a waiting run, resident in ${service}`, unit, values: [resident] };
  }
  const aim = { median: 4 };
  yield { name: "a waiting run, retained by all processes", unit, values: [keptInAll], aim };
  yield { name: "a waiting run, resident in all processes", unit, values: [residentInAll], aim };
}

/** Yields the resident memory of each process of a cluster, and the heap that it retains after garbage collection. */
export async function* memoryNow(
  cluster: Cluster,
  when: string,
  signal: AbortSignal,
): AsyncIterable<Figure> {
  const unit = "MiB";
  const kept = await cluster.keptBytes(signal);
  for (const [name, { ownRssBytes }] of cluster.usage()) {
    const service = serviceOf(name);
    yield { name: `${service}, resident, ${when}`, unit, values: [ownRssBytes / 1024 ** 2] };
    const heap = kept.get(name);
    if (heap !== undefined)
      yield { name: `${service}, retained, ${when}`, unit, values: [heap / 1024 ** 2] };
  }
}

/** Returns the service of a process: a runtime's name is that of its worker. */
export function serviceOf(process: string): string {
  return process.startsWith("runtime") ? "runtime" : process;
}
