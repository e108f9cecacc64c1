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
  "a host that drains under load finishes the calls that it has started, and none is lost or executed twice",
  async () => {
    const two = { REEVE_TOOLHOST_CONCURRENCY: "2" };
    const hosts = await Promise.all([bench.start(two), bench.start(two), bench.start(two)]);
    const holder = await bench.holderOf("run_d", hosts);
    const begun = await bench.calls("run_d", 2, 6);
    for (const request of begun) await bench.reaches(request, "progress");
    const waiting = await bench.calls("run_d", 10, 0, 2);
    const others = await bench.calls("run_e", 6, 1);
    await expect.poll(() => bench.sentTo(holder.host), { timeout: 20_000 }).toBeGreaterThan(0);
    const ended = bench.end(holder);
    const outcomes = await bench.outcomes([...begun, ...waiting, ...others]);
    expect(outcomes.filter(({ isError, hosts: by }) => isError || by.length !== 1)).toEqual([]);
    expect(outcomes.slice(0, 2).flatMap((outcome) => outcome.hosts)).toEqual([
      holder.host,
      holder.host,
    ]);
    expect(outcomes.slice(2, 12).flatMap((outcome) => outcome.hosts)).not.toContain(holder.host);
    expect(await ended).toBe(0);
    expect(await bench.madeIn("run_d")).toEqual(idsOf([...begun, ...waiting]));
    expect(await bench.madeIn("run_e")).toEqual(idsOf(others));
  },
  patienceMs,
);

test(
  "the last host of a pool returns its waiting calls to the pool, for the next host",
  async () => {
    const one = { REEVE_TOOLHOST_CONCURRENCY: "1" };
    const hosts = await Promise.all([bench.start(one), bench.start(one)]);
    const holder = await bench.holderOf("run_z", hosts);
    const [begun] = await bench.calls("run_z", 1, 4);
    await bench.reaches(begun, "progress");
    const waiting = await bench.calls("run_z", 3, 0, 1);
    await expect.poll(() => bench.sentTo(holder.host), { timeout: 20_000 }).toBe(3);
    expect(await Promise.all(hosts.map((host) => bench.end(host)))).toEqual([0, 0]);
    expect(await bench.outcome(begun)).toMatchObject({ isError: false });
    expect(await Promise.all(waiting.map((request) => bench.hasBegun(request)))).not.toContain(
      true,
    );
    await expect.poll(() => bench.depthOf("default")).toBe(3);
    await bench.start();
    const outcomes = await bench.outcomes(waiting);
    expect(outcomes.filter(({ isError }) => isError)).toEqual([]);
    expect(await bench.madeIn("run_z")).toEqual(idsOf([begun, ...waiting]));
  },
  patienceMs,
);

test(
  "an idempotent call that outlasts the drain of its host is executed again by another host",
  async () => {
    const brief = await bench.start({ REEVE_DRAIN_MS: "300" });
    const script = "if mkdir begun; then echo begun; sleep 600; fi";
    const again = { name: "run_command", args: { command: ["sh", "-c", script] } };
    const harmless = await bench.ask({ ...again, callId: "run_1-2-0", idempotent: true });
    await bench.reaches(harmless, "progress");
    const plain = { name: "run_command", args: { command: ["sleep", "600"] } };
    const harmful = await bench.ask({ ...plain, callId: "run_1-2-1" });
    await bench.reaches(harmful, "started");
    const next = await bench.start();
    expect(await bench.end(brief)).toBe(0);
    const made = await bench.outcome(harmless);
    expect(made).toMatchObject({ isError: false, hosts: [brief.host, next.host] });
    const unknown = await bench.outcome(harmful);
    expect(unknown).toMatchObject({ isError: true, hosts: [brief.host] });
    expect(unknown.content).toContain("unknown");
  },
  patienceMs,
);

test(
  "a pool grows from one host to three and back while each call is executed once",
  async () => {
    const two = { REEVE_TOOLHOST_CONCURRENCY: "2" };
    const first = await bench.start(two);
    const old = ["run_1", "run_2"];
    const fresh = ["run_3", "run_4", "run_5", "run_6", "run_7", "run_8"];
    const asked = await Promise.all(old.map((runId) => bench.calls(runId, 3, 1)));
    const more = await Promise.all([bench.start(two), bench.start(two)]);
    asked.push(...(await Promise.all(old.map((runId) => bench.calls(runId, 2, 1, 3)))));
    asked.push(...(await Promise.all(fresh.map((runId) => bench.calls(runId, 2, 1)))));
    const early = await Promise.all(fresh.map((runId) => bench.calls(runId, 1, 1, 2)));
    await bench.outcomes(early.flat().slice(0, 2));
    expect(await Promise.all(more.map((host) => bench.end(host)))).toEqual([0, 0]);
    asked.push(...early, ...(await Promise.all(fresh.map((runId) => bench.calls(runId, 1, 0, 3)))));
    const requests = asked.flat();
    const outcomes = await bench.outcomes(requests);
    expect(outcomes.filter(({ isError, hosts }) => isError || hosts.length !== 1)).toEqual([]);
    expect(new Set(outcomes.flatMap(({ hosts }) => hosts)).size).toBe(3);
    for (const runId of [...old, ...fresh]) {
      const own = requests.filter((request) => request.runId === runId);
      expect(await bench.madeIn(runId)).toEqual(idsOf(own));
    }
    expect(await bench.end(first)).toBe(0);
  },
  patienceMs,
);
