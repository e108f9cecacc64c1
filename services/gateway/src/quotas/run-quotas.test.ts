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

/** Quotas of gateways that share a store, with the runs that their indexes show. */
function world(...quotas: readonly Quota[]) {
  const usage = new MemoryTable<QuotaUsage>();
  const open = new Map<string, string>();
  const clock = { ms: 86_400_000 * 20_000 + 3_600_000, now: () => clock.ms };
  const gateway = () =>
    new RunQuotas({
      quotas: () => quotas,
      usage,
      clock,
      countOpen: async ({ subject }, { runIds }) => {
        await Promise.resolve();
        const counted = [...open.values()].filter((by) => subject === undefined || by === subject);
        return { count: counted.length, missing: runIds.filter((run) => !open.has(run)) };
      },
    });
  return { usage, open, clock, gateway, quotas: gateway() };
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
    await quotas.admit(ann, "run_2", never);
    await quotas.withdraw(ann, "run_2", never);
    await quotas.admit(ann, "run_3", never);
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

describe("a quota of runs per day", () => {
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
