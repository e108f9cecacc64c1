import { ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { startSmallNats } from "@reeve/jetstream/test/small-nats";
import { provisionBuckets } from "@reeve/jetstream/streams/provision-buckets";
import { provisionStreams } from "@reeve/jetstream/streams/provision-streams";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { reasonName } from "@reeve/platform/reason-name";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NatsCluster } from "../support/nats-cluster.ts";
import { whyNoReplicas } from "../support/nats-program.ts";
import { serverLimitWarning } from "../support/server-limit-warning.ts";
import { FullStore, wholeReserve, wholeTalk } from "./support/full-store.ts";

const never = new AbortController().signal;
const mebibyte = 1024 * 1024;
const storeBytes = 32 * mebibyte;
const input = "x".repeat(250_000);
/** How many runs stream while the store is full. */
const streaming = 25;
const noReplicas = whyNoReplicas();

/** A server with a limit of its own. */
async function oneServer(resources: AsyncDisposableStack): Promise<string> {
  return resources.use(await startSmallNats(storeBytes)).url;
}

/** A cluster that keeps three replicas, whose account has a limit: servers at limits of their own lose the quorum. */
async function threeServers(resources: AsyncDisposableStack): Promise<string> {
  const cluster = resources.use(await NatsCluster.start({ maxStoreBytes: 3 * storeBytes }));
  const nats = await cluster.connect();
  await provisionStreams(nats, { pools: ["default"], ackWaitMs: 15_000, replicas: 3 }, never);
  await provisionBuckets(nats, never);
  expect(await serverLimitWarning(nats, 3)).toBe("");
  return cluster.url;
}

const reasonOf = async (request: Promise<unknown>) => {
  const error = await request.then(() => undefined, failureFrom);
  return error && reasonName(error.reason);
};

describe.each([
  { name: "of one server", open: oneServer, reserveBytes: 4 * mebibyte, skipped: "" },
  {
    name: `of an account on three servers${noReplicas}`,
    open: threeServers,
    // More than what they store beyond the limit until each of them knows what the others have.
    reserveBytes: 12 * mebibyte,
    skipped: noReplicas,
  },
])("a full store $name", ({ open, reserveBytes, skipped }) => {
  let store: FullStore;
  const resources = new AsyncDisposableStack();

  beforeAll(async () => {
    if (skipped === "")
      store = resources.use(await FullStore.open(await open(resources), reserveBytes));
  }, 120_000);

  afterAll(() => resources.disposeAsync());

  test.skipIf(skipped !== "")(
    "accepts nothing new, but decisions, cancellations, and deletions, which make room again",
    async () => {
      const { runs, agents, approvals, artifacts, memories } = store;
      // The store keeps room before it is full.
      await wholeReserve(store);
      const [decided, cancelled] = [await store.waiting(input), await store.start(input)];
      await expect
        .poll(() => reasonOf(approvals.getApproval({ approvalId: decided.approvalId })), {
          timeout: 20_000,
        })
        .toBeUndefined();
      const started: string[] = [];
      const startUntilRefused = async () => {
        for (;;) started.push(await store.start(input));
      };
      const refusal = await startUntilRefused().catch(failureFrom);
      expect(refusal).toMatchObject({ kind: "exhausted" });
      expect(refusal.message).toContain("reeve delete RUN");

      const { approval } = await approvals.decideApproval({
        approvalId: decided.approvalId,
        approved: true,
      });
      expect(approval?.state).toBe(ApprovalState.APPROVED);
      const { run } = await runs.cancelRun({ runId: cancelled });
      expect(run?.status).toBe(RunStatus.CANCELLED);
      const content = new Uint8Array(1_000);
      async function* upload() {
        yield { part: { case: "header", value: { name: "a" } } } as const;
        yield { part: { case: "chunk", value: content } } as const;
      }
      const spec = { id: "new", name: "new", model: "scripted:talk" };
      const refused = () => [
        store.start("a"),
        artifacts.createArtifact({ header: { name: "a" }, content }),
        artifacts.uploadArtifact(upload()),
        agents.createAgent({ spec }),
        agents.updateAgent({ spec: { ...spec, id: "spare" } }),
        memories.createMemory({ text: "a fact" }),
        runs.sendMessage({ runId: decided.runId, text: "a message" }),
      ];
      // There is room for some small writes where a large run was refused.
      await expect
        .poll(() => Promise.all(refused().map(reasonOf)), { timeout: 120_000 })
        .toEqual(Array.from({ length: 7 }, () => "STORAGE_FULL"));
      await agents.deleteAgent({ agentId: "spare" });
      expect(await runs.deleteRun({ runId: cancelled })).toMatchObject({ existed: true });
      for (const runId of [...started, decided.runId]) {
        await runs.cancelRun({ runId });
        await runs.deleteRun({ runId });
      }
      await wholeReserve(store);
      await expect.poll(() => reasonOf(store.start("a")), { timeout: 60_000 }).toBeUndefined();
    },
    300_000,
  );

  test.skipIf(skipped !== "")(
    "lets every streaming run be cancelled, and the others continue when there is room",
    async () => {
      const { runs } = store;
      await store.work();
      const started = await Promise.all(
        Array.from({ length: streaming }, () => store.start("talk")),
      );
      for (const run of started) {
        await expect.poll(() => store.textBytes(run), { timeout: 60_000 }).toBeGreaterThan(0);
      }
      const empty = await store.fill();
      const kept = started.slice(0, 5);
      const cancelled = started.slice(5);
      const before = await store.logBytes();
      // The first one frees the reserve. From then on the others could use it up before their turn comes.
      for (const runId of cancelled) {
        const { run } = await runs.cancelRun({ runId });
        expect(run?.status).toBe(RunStatus.CANCELLED);
      }
      // Those that still stream have left the reserve alone, all but what they were appending when it was freed.
      const inFlight = streaming * 20_000;
      expect((await store.logBytes()) - before).toBeLessThan(inFlight);
      for (const runId of cancelled) {
        expect(await runs.deleteRun({ runId })).toMatchObject({ existed: true });
      }
      await empty();
      const progress = async (runId: string) => {
        const { run } = await runs.getRun({ runId });
        return run?.status === RunStatus.COMPLETED
          ? "completed"
          : `status ${run?.status} after ${await store.textBytes(runId)} bytes, ${await store.reserved()} chunks are reserved`;
      };
      for (const runId of kept) {
        await expect.poll(() => progress(runId), { timeout: 240_000 }).toBe("completed");
        expect(await store.textBytes(runId)).toBe(wholeTalk.length);
      }
    },
    400_000,
  );
});
