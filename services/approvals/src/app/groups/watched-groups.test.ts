import { create } from "@bufbuild/protobuf";
import type { WatchedGroup } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { WatchedGroups } from "./watched-groups.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const week = 7 * 86_400_000;
const noon = Date.parse("2026-01-01T12:00:00Z");
const pending = (...alternatives: readonly { people?: string[]; groups?: string[] }[]) =>
  create(ApprovalSchema, { state: ApprovalState.PENDING, alternatives: [...alternatives] });
const forSecurity = pending({ groups: ["security"] });

async function opened() {
  const end = new AbortController();
  const table = new MemoryTable<WatchedGroup>();
  const clock = new ManualClock(noon);
  const start = async () => {
    const groups = new WatchedGroups(table, { clock, log });
    await groups.follow(end.signal);
    return groups;
  };
  return { table, clock, start, [Symbol.dispose]: () => end.abort() };
}

test("an approval has a warning when nobody of its groups has used the inbox for a week", async () => {
  using bench = await opened();
  const [first, second] = [await bench.start(), await bench.start()];
  expect(first.unseenIn("acme")(forSecurity)).toEqual([]);
  await expect.poll(() => bench.table.list("acme", never)).toHaveLength(1);
  await bench.clock.advance(week - 1);
  expect(second.unseenIn("acme")(forSecurity)).toEqual([]);
  await bench.clock.advance(1);
  // The other instance has the same record.
  await expect.poll(() => second.unseenIn("acme")(forSecurity)).toEqual(["security"]);
  expect(second.unseenIn("globex")(forSecurity)).toEqual([]);
  second.note({ tenant: "globex", groups: new Set(["security"]) });
  second.note({ tenant: "acme", groups: new Set(["sales"]) });
  await second[Symbol.asyncDispose]();
  expect(second.unseenIn("acme")(forSecurity)).toEqual(["security"]);
  second.note({ tenant: "acme", groups: new Set(["security"]) });
  await expect.poll(() => first.unseenIn("acme")(forSecurity)).toEqual([]);
  // The last member leaves.
  await bench.clock.advance(week);
  expect(first.unseenIn("acme")(forSecurity)).toEqual(["security"]);
});

test("an approval has no warning if it names a person, a role, everybody, or a group that was seen", async () => {
  using bench = await opened();
  const groups = await bench.start();
  const two = pending({ groups: ["security"] }, { groups: ["ops", "sales"] });
  groups.unseenIn("acme")(two);
  await expect.poll(() => bench.table.list("acme", never)).toHaveLength(3);
  await bench.clock.advance(week);
  await expect.poll(() => groups.unseenIn("acme")(two)).toEqual(["security", "ops", "sales"]);
  const unseen = groups.unseenIn("acme");
  expect(unseen(pending())).toEqual([]);
  expect(unseen(pending({}, { groups: ["security"] }))).toEqual([]);
  expect(unseen(pending({ groups: ["security"] }, { people: ["ann"] }))).toEqual([]);
  expect(unseen(pending({ groups: ["security", "role:operator"] }))).toEqual([]);
  groups.note({ tenant: "acme", groups: new Set(["sales"]) });
  await expect.poll(() => groups.unseenIn("acme")(two)).toEqual([]);
});

/** An approval with as many groups as policies may name. */
function many(prefix: string) {
  return pending(
    ...Array.from({ length: 16 }, (_, alternative) => ({
      groups: Array.from({ length: 100 }, (__, at) => `${prefix}-${alternative}-${at}`),
    })),
  );
}

test("a tenant has at most 100 watched groups, so that none takes the room of another", async () => {
  using bench = await opened();
  const groups = await bench.start();
  for (const prefix of ["a", "b"]) groups.unseenIn("acme")(many(prefix));
  groups.unseenIn("globex")(forSecurity);
  await expect.poll(() => bench.table.list("globex", never)).toHaveLength(1);
  groups.unseenIn("acme")(many("c"));
  await groups[Symbol.asyncDispose]();
  expect(await bench.table.list("acme", never)).toHaveLength(100);
});
