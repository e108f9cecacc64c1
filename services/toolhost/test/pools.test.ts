import { afterEach, beforeEach, expect, test } from "vitest";
import { PoolBench, idsOf } from "./support/pool-bench.ts";

const patienceMs = 90_000;
let bench: PoolBench;

beforeEach(async () => {
  bench = await PoolBench.open(AbortSignal.timeout(patienceMs));
});

afterEach(() => bench[Symbol.asyncDispose]());

// Requirement: HOST-3
test(
  "calls of a run are executed where its files are, on one of three hosts",
  async () => {
    await Promise.all([bench.start(), bench.start(), bench.start()]);
    const requests = await bench.calls("run_a", 20, 0);
    const outcomes = await bench.outcomes(requests);
    expect(outcomes.filter(({ isError }) => isError)).toEqual([]);
    expect(new Set(outcomes.flatMap(({ hosts }) => hosts)).size).toBe(1);
    expect(await bench.madeIn("run_a")).toEqual(idsOf(requests));
    // Which host claims another run is chance: runs are started until each host has executed a call.
    const hosts = new Set<string>();
    for (let run = 0; hosts.size < 3; run += 3) {
      const others = await Promise.all(
        [run, run + 1, run + 2].map((each) => bench.calls(`run_b${each}`, 1, 1)),
      );
      const found = await bench.outcomes(others.flat());
      for (const host of found.flatMap((outcome) => outcome.hosts)) hosts.add(host);
    }
  },
  patienceMs,
);

// Requirement: HOST-3
test(
  "calls that wait for a killed host, and those that it had started, are taken over by the others",
  async () => {
    const one = { REEVE_TOOLHOST_CONCURRENCY: "1" };
    const hosts = await Promise.all([bench.start(one), bench.start(one), bench.start(one)]);
    const holder = await bench.holderOf("run_k", hosts);
    const [begun] = await bench.calls("run_k", 1, 600);
    expect(await bench.reaches(begun, "progress")).toBe(holder.host);
    const waiting = await bench.calls("run_k", 3, 0, 1);
    await expect.poll(() => bench.sentTo(holder.host), { timeout: 20_000 }).toBe(3);
    await bench.kill(holder);
    const outcomes = await bench.outcomes(waiting);
    expect(outcomes.filter(({ isError }) => isError)).toEqual([]);
    expect(outcomes.flatMap((outcome) => outcome.hosts)).not.toContain(holder.host);
    expect(outcomes.map((outcome) => outcome.hosts.length)).toEqual([1, 1, 1]);
    const lost = await bench.outcome(begun);
    expect(lost).toMatchObject({ isError: true, hosts: [holder.host] });
    expect(lost.content).toContain("unknown");
    expect(await bench.madeIn("run_k")).toEqual(idsOf([begun, ...waiting]));
    // Its queue is deleted when it is empty.
    await expect
      .poll(() => bench.queues(), { timeout: 40_000 })
      .not.toContain(`default=${holder.host}`);
  },
  patienceMs,
);
