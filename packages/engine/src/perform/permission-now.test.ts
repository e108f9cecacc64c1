import { create } from "@bufbuild/protobuf";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { Role } from "@reeve/contracts/access/role";
import { ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { ThreadEventSchema } from "@reeve/contracts/thread";
import { PermissionBehavior } from "@reeve/contracts/tool";
import { emptyTail } from "@reeve/jetstream/log/port";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { describe, expect, test } from "vitest";
import { callingModel } from "../../test/support/models.ts";
import { expectWhole, key, resultsOf, WorkerBench } from "../../test/support/worker-bench.ts";

const policyOf = (text: string) => parsePolicyFile(text, "policy.yaml");
const startedBy = { startedByRoles: [Role.RUNNER], hasPolicy: true };
const none = policyOf("rules: []");
const denied = policyOf(
  `rules: [{ name: late, permission: { rules: [{ tool: 'count(x = "1")', behavior: deny }] } }]`,
);
const calls = (x: string) => callingModel([["count", JSON.stringify({ x })]], () => undefined);

/** Drives a run until its call waits for an approval, changes the policy, and approves the call. */
async function approvedUnder(policy: typeof none, x: string, threadId = ""): Promise<WorkerBench> {
  const bench = new WorkerBench(calls(x));
  bench.policy = none;
  if (threadId !== "") await startTurn(bench, threadId);
  await (await bench.create({ hitlTools: ["count"] }, { ...startedBy, threadId })).drive("w");
  bench.policy = policy;
  await bench.decide(ApprovalState.APPROVED);
  await bench.drive("w2", 2);
  expectWhole(await bench.events(), RunStatus.COMPLETED);
  return bench;
}

/** Makes the run of a bench the first turn of a thread. */
async function startTurn({ threads }: WorkerBench, thread: string): Promise<void> {
  const events = (["turnQueued", "turnStarted"] as const).map((kind, index) =>
    create(ThreadEventSchema, {
      threadId: thread,
      sequence: index + 1,
      event: { case: kind, value: { runId: key.run } },
    }),
  );
  const { signal } = new AbortController();
  await threads.append({ tenant: key.tenant, thread }, emptyTail, events, signal);
}

describe("a permission rule that the policy got while a call waited for its approval", () => {
  // Requirement: HITL-2, RES-10
  test("blocks the approved call, which is a tool error with the rule", async () => {
    const bench = await approvedUnder(denied, "1");
    expect(bench.executed).toEqual([]);
    expect(await resultsOf(bench)).toEqual([
      'the call was cancelled: the permission rule count(x = "1") in the rule "late" of the operator\'s policy denies this call',
    ]);
    const [result] = (await bench.events()).flatMap(({ event }) =>
      event.case === "toolResult" ? [event.value.result] : [],
    );
    expect(result?.metadata?.permission).toMatchObject({
      behavior: PermissionBehavior.DENY,
      rule: 'count(x = "1")',
      policyRule: "late",
    });
  });

  // Requirement: HITL-2
  test("blocks it in the thread that the rule names, and in no other", async () => {
    const inAudit = policyOf(`
rules:
  - { name: late, when: { threads: [audit] }, permission: { rules: [{ tool: count, behavior: deny }] } }`);
    const executed = async (threadId: string) =>
      (await approvedUnder(inAudit, "1", threadId)).executed.length;
    expect(await executed("audit")).toBe(0);
    expect(await executed("other")).toBe(1);
    expect(await executed("")).toBe(1);
  });

  test("lets a call through that it does not match", async () => {
    expect((await approvedUnder(denied, "2")).executed).toHaveLength(1);
  });
});

test("a run has the permission rules of the policy in its log, and asks by them", async () => {
  const bench = new WorkerBench(calls("1"));
  bench.policy = policyOf(`
rules:
  - { name: base, permission: { default_behavior: ask } }
  - { name: others, when: { tenants: [other] }, permission: { default_behavior: deny } }`);
  await (await bench.create({}, startedBy)).drive("w");
  const head = foldHead(emptyHead, await bench.events());
  expect(head.prepared?.policy?.permissions).toMatchObject([
    { policyRule: "base", defaultBehavior: PermissionBehavior.ASK, rules: [] },
  ]);
  expect(head.approvals?.value.permission).toMatchObject({
    behavior: PermissionBehavior.ASK,
    rule: "default_behavior",
    source: "policy",
    policyRule: "base",
  });
});

test("a tool of the runtime that the policy of now denies by its arguments is refused", async () => {
  const call = ["retrieve_artifact", '{"artifact_id":"art_0123456789abcdef"}'] as const;
  const bench: WorkerBench = new WorkerBench(
    callingModel([call], () => {
      bench.policy = policyOf(
        "rules: [{ name: late, permission: { rules: [{ tool: retrieve_artifact(art_0*), behavior: deny }] } }]",
      );
    }),
  );
  bench.policy = none;
  await (await bench.create({}, startedBy)).drive("w");
  expect((await resultsOf(bench))[0]).toContain("retrieve_artifact(art_0*)");
});
