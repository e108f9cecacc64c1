import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { Role } from "@reeve/contracts/access/role";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { approvalsOf, emptyHead, foldHead } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import { callingModel } from "../../test/support/models.ts";
import { expectWhole, resultsOf, WorkerBench } from "../../test/support/worker-bench.ts";

const startedBy = { startedByRoles: [Role.RUNNER], hasPolicy: true };
const minute = 60_000;

/** Drives a run until its call waits, and approves it after a time, as a service without the policy does. */
async function approvedAfter(
  waitedMs: number,
  policy: string,
  waits: { wait: { seconds: bigint } }[] = [],
): Promise<WorkerBench> {
  const bench = new WorkerBench(callingModel([["count", "{}"]], () => undefined));
  bench.policy = parsePolicyFile("rules: []", "policy.yaml");
  const spec = { hitlTools: ["count"], approvalPolicy: { waits } };
  await (await bench.create(spec, startedBy)).drive("w");
  bench.policy = parsePolicyFile(`rules: []\n${policy}`, "policy.yaml");
  const [pending] = approvalsOf(foldHead(emptyHead, await bench.events()));
  const requestedMs = pending?.requestedAt ? timestampMs(pending.requestedAt) : 0;
  await bench.decide(ApprovalState.APPROVED, undefined, requestedMs + waitedMs);
  await bench.drive("w2", 2);
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  return bench;
}

const freeze = `approvals: { freezes: [{ name: long, from: "1970-01-01T00:00:00Z", until: "2999-01-01T00:00:00Z" }] }`;
const wait = "approvals: { waits: [{ name: slow, wait: 1m }] }";

describe("a call that was approved too early, by a service that does not know the policy,", () => {
  test.each([
    ["in a freeze", freeze, 0, 'in the freeze "long"'],
    ["in the wait of the operator", wait, minute - 1, "before its wait had ended"],
  ])("is not executed: %s", async (_, policy, waitedMs, why) => {
    const bench = await approvedAfter(waitedMs, policy);
    expect(bench.executed).toEqual([]);
    expect((await resultsOf(bench))[0]).toContain(why);
  });

  test("is not executed: in the wait of its agent", async () => {
    const waits = [{ wait: { seconds: 60n } }];
    const bench = await approvedAfter(minute - 1, "", waits);
    expect(bench.executed).toEqual([]);
    expect((await resultsOf(bench))[0]).toContain("before the wait that its agent requires");
    expect((await approvedAfter(minute, "", waits)).executed).toHaveLength(1);
  });

  test("is executed if it was approved in time", async () => {
    expect((await approvedAfter(minute, wait)).executed).toHaveLength(1);
  });
});
