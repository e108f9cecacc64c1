import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { GrantedRuns } from "../../../test/support/granted-runs.ts";
import { noon } from "../../../test/support/parked-run.ts";
import { maxSleepMs } from "../serve-due-times.ts";

const { APPROVED, PENDING } = ApprovalState;

test("a grant decides when a freeze that began while it was applied has ended", async () => {
  const runs = await GrantedRuns.open();
  await runs.grants(await runs.asks(), "pay(bob)");
  const waiting = await runs.asks();
  const lunch = `{ name: lunch, from: "2026-01-01T12:00:00Z", until: "2026-01-01T12:01:00Z" }`;
  const frozen = parsePolicyFile(
    `rules: []\napprovals:\n  freezes: [${lunch}]`,
    "policy.yaml",
  ).approvals;
  let isNoon = false;
  const times = () => (isNoon ? frozen : undefined);
  const recordAct: typeof runs.ports.recordAct = async (act, perform) => {
    isNoon = true;
    return await runs.ports.recordAct(act, perform);
  };
  await using _ = runs.applying({ ...runs.ports, times, recordAct });
  await runs.settled();
  expect((await runs.read(waiting))?.state).toBe(PENDING);
  await runs.ports.clock.advance(maxSleepMs);
  await runs.settled();
  expect((await runs.read(waiting))?.state).toBe(APPROVED);
});

test("a grant decides calls that cannot be approved yet when they can, and not before", async () => {
  const runs = await GrantedRuns.open();
  const { clock } = runs.ports;
  await runs.grants(await runs.asks(), "pay");
  const decidableAfter = timestampFromMs(noon + 90_000);
  const waiting = await runs.asks({
    approval: { requestedAt: timestampFromMs(noon), decidableAfter },
  });
  await using _ = runs.applying();
  await runs.settled();
  for (const stepMs of [60_000, 29_999]) {
    await clock.advance(stepMs);
    await runs.settled();
    expect((await runs.read(waiting))?.state).toBe(PENDING);
  }
  await clock.advance(1);
  await runs.settled();
  expect((await runs.read(waiting))?.state).toBe(APPROVED);
  expect((await runs.grant())?.uses).toMatchObject([{ approvalId: waiting }]);
});
