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
    const service = name.startsWith("runtime") ? "runtime" : name;
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
