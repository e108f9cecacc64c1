import type { QuotaUsage } from "@reeve/contracts/quota";
import { ErrorReason } from "@reeve/contracts/error";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { Failure } from "@reeve/platform/failure";
import { describe, expect, test } from "vitest";
import type { Quota } from "./quota.ts";
import { RunQuotas } from "./run-quotas.ts";

const never = new AbortController().signal;
const ann = { tenant: "acme", subject: "ann" };
const bob = { tenant: "acme", subject: "bob" };
const exceeded = { kind: "exhausted", reason: ErrorReason.QUOTA_EXCEEDED };

function quota(given: Partial<Quota>): Quota {
  return { name: "q", tenants: undefined, subjects: undefined, per: "tenant", ...given };
}

function sumOf(amounts: ReadonlyMap<string, number>, subjects?: ReadonlySet<string>): number {
  return [...amounts].reduce(
    (sum, [by, each]) => (subjects?.has(by) === false ? sum : sum + each),
    0,
  );
}

/** Quotas of gateways that share a store, with the runs that their indexes show. */
function world(...quotas: readonly Quota[]) {
  const usage = new MemoryTable<QuotaUsage>();
  /** The runs that the index shows as open, with their subjects, and those that have a log. */
  const open = new Map<string, string>();
  const queued = new Set<string>();
  /** What the ended runs of each subject cost today, and the bytes of its artifacts. */
  const cost = new Map<string, number>();
  const bytes = new Map<string, number>();
  const logs = new Set<string>();
  const clock = { ms: 86_400_000 * 20_000 + 3_600_000, now: () => clock.ms };
  const gateway = () =>
    new RunQuotas({
      quotas: () => quotas,
      usage,
      clock,
      exists: (_, runId) => Promise.resolve(logs.has(runId)),
      countOpen: async ({ subjects }, { runIds }) => {
        await Promise.resolve();
        const counted = [...open.values()].filter((by) => subjects?.has(by) !== false);
        const missing = runIds.filter((run) => !open.has(run));
        return { open: counted.length, queued: queued.size, missing };
      },
      costOf: ({ subjects }) => Promise.resolve(sumOf(cost, subjects)),
      bytesOf: ({ subjects }) => Promise.resolve(sumOf(bytes, subjects)),
    });
  return { usage, open, queued, cost, bytes, logs, clock, gateway, quotas: gateway() };
}

/** Returns how many of `count` concurrent runs are admitted, by gateways in alternation. */
async function admittedOf(gateways: readonly RunQuotas[], count: number): Promise<number> {
  const admit = async (index: number) => {
    try {
      await gateways[index % gateways.length]?.admit(ann, `run_${index}`, never);
      return 1;
    } catch (error) {
      if (error instanceof Failure && error.reason === ErrorReason.QUOTA_EXCEEDED) return 0;
      throw error;
    }
  };
  const admitted = await Promise.all(Array.from({ length: count }, (_, index) => admit(index)));
  return admitted.reduce<number>((sum, one) => sum + one, 0);
}

describe("a quota of open runs", () => {
  test("admits a run again when another ends", async () => {
    const { quotas, open } = world(quota({ openRuns: 2 }));
    for (const run of ["run_1", "run_2"]) {
      await quotas.admit(ann, run, never);
      open.set(run, "ann");
    }
    await expect(quotas.admit(ann, "run_3", never)).rejects.toMatchObject({
      ...exceeded,
      message: expect.stringContaining("quota q allows tenant acme 2 open runs") as string,
      metadata: { quota: "q", limit: "open_runs", max: "2" },
    });
    open.delete("run_1");
    await quotas.admit(ann, "run_3", never);
  });

  test("is never exceeded by gateways that race, also before the index shows their runs", async () => {
    const { gateway } = world(quota({ openRuns: 7 }));
    expect(await admittedOf([gateway(), gateway(), gateway()], 60)).toBe(7);
  });

  test("counts a run once, however often it is admitted", async () => {
    const { quotas, open, usage } = world(quota({ openRuns: 2, runsPerDay: 2 }));
    for (let time = 0; time < 3; time++) await quotas.admit(ann, "run_1", never);
    const [row] = await usage.list("", never);
    expect(row?.record.runsOfDay).toBe(1);
    open.set("run_1", "ann");
    await quotas.admit(ann, "run_2", never);
  });

  test("forgets a run that was admitted and never created after a minute, or at once when it is withdrawn", async () => {
    const { quotas, clock } = world(quota({ openRuns: 1 }));
    await quotas.admit(ann, "run_1", never);
    await expect(quotas.admit(ann, "run_2", never)).rejects.toMatchObject(exceeded);
    clock.ms += 60_001;
    const admission = await quotas.admit(ann, "run_2", never);
    await admission.withdraw(never);
    await quotas.admit(ann, "run_3", never);
  });

  test("counts a run that is not indexed for longer than a minute as long as it has a log", async () => {
    const { quotas, clock, logs } = world(quota({ openRuns: 1 }));
    await quotas.admit(ann, "run_1", never);
    logs.add("run_1");
    clock.ms += 60_001;
    await expect(quotas.admit(ann, "run_2", never)).rejects.toMatchObject(exceeded);
    logs.delete("run_1");
    await quotas.admit(ann, "run_2", never);
  });

  test("has room again when a run is deleted, and counts a new run with its id", async () => {
    const { quotas, usage } = world(quota({ openRuns: 1, runsPerDay: 3 }));
    for (let time = 0; time < 3; time++) {
      await quotas.admit(ann, "run_1", never);
      await quotas.release(ann, "run_1", never);
    }
    expect((await usage.list("", never)).map(({ record }) => record.runsOfDay)).toEqual([3]);
    await expect(quotas.admit(ann, "run_1", never)).rejects.toThrow(/3 runs per day/);
  });

  test("counts the runs of the subjects that it names together, and of no others", async () => {
    const subjects = new Set(["ann", "bob"]);
    const { quotas, open } = world(quota({ openRuns: 2, subjects }));
    open.set("run_1", "eve").set("run_2", "eve").set("run_3", "bob");
    await quotas.admit(ann, "run_4", never);
    open.set("run_4", "ann");
    await expect(quotas.admit(bob, "run_5", never)).rejects.toMatchObject(exceeded);
  });

  test("is shared by the subjects of a tenant, or counted for each", async () => {
    const shared = world(quota({ openRuns: 1 })).quotas;
    await shared.admit(ann, "run_1", never);
    await expect(shared.admit(bob, "run_2", never)).rejects.toMatchObject(exceeded);
    await shared.admit({ tenant: "globex", subject: "ann" }, "run_3", never);
    const { quotas: each, open } = world(quota({ openRuns: 1, per: "subject" }));
    await each.admit(ann, "run_1", never);
    open.set("run_1", "ann");
    await each.admit(bob, "run_2", never);
    await expect(each.admit(ann, "run_3", never)).rejects.toThrow(/allows ann of tenant acme/);
  });
});

test("an admission of another request is not withdrawn", async () => {
  const { quotas, usage } = world(quota({ runsPerDay: 5 }));
  await quotas.admit(ann, "run_1", never);
  const repeated = await quotas.admit(ann, "run_1", never);
  await repeated.withdraw(never);
  expect((await usage.list("", never)).map(({ record }) => record.runsOfDay)).toEqual([1]);
});

describe("a quota of runs per day", () => {
  test("is not reset by a gateway whose clock is behind", async () => {
    const { gateway, clock } = world(quota({ runsPerDay: 4 }));
    clock.ms = 86_400_000 * 20_001;
    const quotas = gateway();
    for (let run = 0; run < 4; run++) {
      clock.ms += run % 2 === 0 ? -1_000 : 1_000;
      await quotas.admit(ann, `run_${run}`, never);
    }
    // The first of them was admitted before midnight, by all clocks.
    clock.ms = 86_400_000 * 20_001 - 1;
    await quotas.admit(ann, "run_5", never);
    await expect(quotas.admit(ann, "run_6", never)).rejects.toMatchObject(exceeded);
  });

  test("counts no run that its thread refuses, however many are refused at once", async () => {
    const { gateway, usage } = world(quota({ runsPerDay: 50 }));
    const [one, other] = [gateway(), gateway()];
    const admissions = await Promise.all(
      Array.from({ length: 40 }, (_, run) =>
        (run % 2 === 0 ? one : other).admit(ann, `run_${run}`, never),
      ),
    );
    await Promise.all(admissions.map((admission) => admission.withdraw(never)));
    expect((await usage.list("", never)).map(({ record }) => record.runsOfDay)).toEqual([0]);
  });

  test("admits again after midnight UTC, and says how long that takes", async () => {
    const { quotas, clock, open } = world(quota({ runsPerDay: 1 }));
    await quotas.admit(ann, "run_1", never);
    open.delete("run_1");
    await expect(quotas.admit(ann, "run_2", never)).rejects.toMatchObject({
      ...exceeded,
      retryAfterMs: 23 * 3_600_000,
    });
    clock.ms += 23 * 3_600_000;
    await quotas.admit(ann, "run_2", never);
  });

  test("is never exceeded by gateways that race", async () => {
    const { gateway } = world(quota({ runsPerDay: 9 }));
    expect(await admittedOf([gateway(), gateway()], 40)).toBe(9);
  });
});

describe("a quota of queued runs", () => {
  test("admits a run when a worker takes another, and counts runs that the index does not show yet", async () => {
    const { quotas, open, queued } = world(quota({ queuedRuns: 2 }));
    for (const run of ["run_1", "run_2"]) await quotas.admit(ann, run, never);
    const refusal = { ...exceeded, metadata: { quota: "q", limit: "queued_runs", max: "2" } };
    await expect(quotas.admit(ann, "run_3", never)).rejects.toMatchObject(refusal);
    for (const run of ["run_1", "run_2"]) {
      open.set(run, "ann");
      queued.add(run);
    }
    await expect(quotas.admit(ann, "run_3", never)).rejects.toMatchObject(refusal);
    queued.delete("run_1");
    await quotas.admit(ann, "run_3", never);
  });

  test("is never exceeded by gateways that race", async () => {
    const { gateway } = world(quota({ queuedRuns: 7 }));
    expect(await admittedOf([gateway(), gateway(), gateway()], 60)).toBe(7);
  });
});

describe("a quota of the cost of a day", () => {
  test("admits no run once it is spent, until midnight UTC", async () => {
    const { quotas, cost, clock } = world(quota({ costPerDayUsd: 2.5 }));
    cost.set("ann", 1).set("bob", 1.49);
    await quotas.admit(ann, "run_1", never);
    cost.set("bob", 1.5);
    await expect(quotas.admit(ann, "run_2", never)).rejects.toMatchObject({
      ...exceeded,
      metadata: { quota: "q", limit: "cost_per_day_usd", max: "2.5" },
      retryAfterMs: 23 * 3_600_000,
    });
    clock.ms += 23 * 3_600_000;
    cost.clear();
    await quotas.admit(ann, "run_2", never);
  });

  test("keeps the cost of deleted runs, once for each, until midnight UTC", async () => {
    const { quotas, clock } = world(quota({ costPerDayUsd: 2 }));
    const ended = { endedAtMs: clock.ms, costUsd: 1 };
    await quotas.keepCost(ann, { runId: "run_1", ...ended }, never);
    await quotas.keepCost(ann, { runId: "run_1", ...ended }, never);
    const yesterday = { runId: "run_0", endedAtMs: clock.ms - 86_400_000, costUsd: 5 };
    await quotas.keepCost(ann, yesterday, never);
    await quotas.admit(ann, "run_3", never);
    await quotas.keepCost(ann, { runId: "run_2", ...ended }, never);
    await expect(quotas.admit(ann, "run_4", never)).rejects.toMatchObject(exceeded);
    clock.ms += 23 * 3_600_000;
    await quotas.admit(ann, "run_4", never);
  });

  test("counts each subject alone if it says so", async () => {
    const { quotas, cost } = world(quota({ costPerDayUsd: 2, per: "subject" }));
    cost.set("bob", 3);
    await quotas.admit(ann, "run_1", never);
    await expect(quotas.admit(bob, "run_2", never)).rejects.toMatchObject(exceeded);
  });
});

test("no run is admitted while artifacts use up a quota of bytes", async () => {
  const { quotas, bytes, usage } = world(quota({ artifactBytes: 100 }));
  bytes.set("ann", 99);
  await quotas.admit(ann, "run_1", never);
  bytes.set("bob", 1);
  await expect(quotas.admit(ann, "run_2", never)).rejects.toMatchObject({
    ...exceeded,
    metadata: { quota: "q", limit: "artifact_bytes", max: "100" },
  });
  expect(await usage.list("", never)).toEqual([]);
});

test("a run that one quota refuses counts for none", async () => {
  const { quotas, usage } = world(
    quota({ name: "wide", runsPerDay: 5 }),
    quota({ name: "narrow", runsPerDay: 1 }),
  );
  await quotas.admit(ann, "run_1", never);
  await expect(quotas.admit(ann, "run_2", never)).rejects.toThrow(/quota narrow/);
  expect((await usage.list("", never)).map(({ record }) => record.runsOfDay)).toEqual([1, 1]);
});

test("a principal without a quota writes no count", async () => {
  const { quotas, usage } = world(quota({ openRuns: 1, tenants: new Set(["globex"]) }));
  await quotas.admit(ann, "run_1", never);
  expect(await usage.list("", never)).toEqual([]);
});
