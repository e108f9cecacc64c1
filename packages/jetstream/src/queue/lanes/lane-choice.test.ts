import { lanesOf } from "@reeve/contracts/lane";
import { expect, test } from "vitest";
import type { LaneBacklogs } from "./lane-choice.ts";
import { LaneChoice } from "./lane-choice.ts";

const signal = new AbortController().signal;
const lanes = 8;
const tenants = Array.from({ length: 1_000 }, (_, tenant) => `tenant-${tenant}`);

async function failing(): Promise<number> {
  return await Promise.reject(new Error("away"));
}

async function silent(): Promise<number> {
  return await new Promise(() => undefined);
}

/** Backlogs in memory, to which each choice adds a message. */
class Backlogs implements LaneBacklogs {
  readonly count = lanes;
  readonly #queued: { readonly lane: number; readonly tenant: string }[] = [];
  #time = 0;
  readonly #choice = new LaneChoice(this, () => (this.#time += 600));

  async waiting(lane: number): Promise<number> {
    return await Promise.resolve(this.#queued.filter((each) => each.lane === lane).length);
  }

  async ofTenant(lane: number, tenant: string): Promise<number> {
    const own = this.#queued.filter((each) => each.lane === lane && each.tenant === tenant);
    return await Promise.resolve(own.length);
  }

  async add(tenant: string): Promise<number> {
    const lane = await this.#choice.of(tenant, signal);
    this.#queued.push({ lane, tenant });
    return lane;
  }
}

// Requirement: HOST-10
test("a tenant with a long queue of its own stays in one lane", async () => {
  const backlogs = new Backlogs();
  const [first] = lanesOf("acme", lanes);
  for (let run = 0; run < 100; run++) expect(await backlogs.add("acme")).toBe(first);
});

// Requirement: HOST-10
test("a tenant behind the long queue of another one moves to its second lane", async () => {
  const backlogs = new Backlogs();
  for (let run = 0; run < 100; run++) await backlogs.add("acme");
  const [long] = lanesOf("acme", lanes);
  for (const tenant of tenants) {
    const [first, second] = lanesOf(tenant, lanes);
    const asOthers = new LaneChoice(backlogs);
    expect(await asOthers.of(tenant, signal)).toBe(first === long ? second : first);
  }
});

test("without an answer of the store, a message goes to the first lane of its tenant", async () => {
  const [first] = lanesOf("acme", lanes);
  for (const waiting of [failing, silent]) {
    const choice = new LaneChoice({ count: lanes, waiting, ofTenant: waiting });
    expect(await choice.of("acme", signal)).toBe(first);
  }
});

test("a writer asks about a lane once a second at most", async () => {
  let asked = 0;
  const waiting = async () => {
    asked += 1;
    return await Promise.resolve(0);
  };
  let time = 0;
  const choice = new LaneChoice({ count: lanes, waiting, ofTenant: waiting }, () => time);
  for (let run = 0; run < 100; run++) await choice.of("acme", signal);
  expect(asked).toBe(2);
  time += 1_000;
  await choice.of("acme", signal);
  expect(asked).toBe(4);
});
