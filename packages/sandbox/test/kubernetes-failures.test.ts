import { setImmediate as immediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { KubernetesOptions } from "../src/kubernetes/driver.ts";
import { KubernetesDriver } from "../src/kubernetes/driver.ts";
import { collect } from "../src/files/collect.ts";
import type { SandboxSession } from "../src/port.ts";
import { defaultLimits } from "../src/port.ts";
import { limitsOf } from "./support/contract/sandbox-bench.ts";
import { driverOptions } from "./support/kubernetes/driver-options.ts";
import type { Answer } from "./support/kubernetes/recorded-answers.ts";
import { answers, statuses } from "./support/kubernetes/recorded-answers.ts";
import { RecordedCluster } from "./support/kubernetes/recorded-cluster.ts";
import { skipReason } from "./support/bubblewrap-here.ts";

const signal = new AbortController().signal;
const spec = { ...defaultLimits, workspaceDir: "", readOnly: false };
let cluster: RecordedCluster;

beforeEach(async () => {
  cluster = await RecordedCluster.start();
});
afterEach(() => cluster[Symbol.asyncDispose]());

function driverFor(other: Partial<KubernetesOptions> = {}): KubernetesDriver {
  return new KubernetesDriver(driverOptions(cluster, other));
}

/** Answers matching requests with `answer`. */
function refuse(method: string, path: RegExp, answer: Answer): void {
  cluster.override = (request) =>
    request.method === method && path.test(request.path) ? answer : undefined;
}

async function errorOf(opened: Promise<unknown>): Promise<string> {
  return await opened.then(
    () => "it opened",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

/** Waits until no pod is left in the cluster. */
async function expectNothingLeft(): Promise<void> {
  await vi.waitFor(() => expect([...cluster.pods.store.objects.keys()]).toEqual([]), 10_000);
}

/** Runs a long command, calls `disrupt` once it writes, and returns how it ended. */
async function runWhile(session: SandboxSession, disrupt: () => unknown): Promise<string> {
  const argv = ["/bin/sh", "-c", "echo ready; exec sleep 600"];
  for await (const event of session.exec({ argv, limits: limitsOf() }, signal)) {
    if (event.kind === "out") await disrupt();
    if (event.kind === "end") return event.reason;
  }
  throw new Error("the command has no end event");
}

describe("a pod that does not start", () => {
  test.each([
    ["whose image cannot be pulled", statuses.noImage, /ImagePullBackOff.*REEVE_SANDBOX_IMAGE/],
    ["whose image has no Python", statuses.noProgram, /StartError.*python3/],
  ])("%s is reported at once, with a remedy", async (_, status, message) => {
    cluster.pods.live = ({ metadata: { name } }) => cluster.pods.become(name, status);
    const opened = driverFor().open(spec, signal);
    expect(await errorOf(opened)).toMatch(message);
    await expectNothingLeft();
  });

  test("for which no node has room is reported after the start timeout", async () => {
    cluster.pods.live = ({ metadata: { name } }) => cluster.pods.become(name, statuses.noRoom);
    const opened = driverFor({ startTimeoutMs: 5_000 }).open(spec, signal);
    expect(await errorOf(opened)).toMatch(/Unschedulable: 0\/3 nodes.*kubectl describe/);
    await expectNothingLeft();
  });

  test("is released in the background if the caller aborts", async () => {
    cluster.pods.live = ({ metadata: { name } }) => cluster.pods.become(name, statuses.creating);
    const stop = new AbortController();
    const opened = driverFor().open(spec, stop.signal);
    await vi.waitFor(() => expect(cluster.pods.created).toHaveLength(1), 10_000);
    stop.abort(new Error("the caller left"));
    expect(await errorOf(opened)).toBe("the caller left");
    await expectNothingLeft();
  });
});

// Requirement: OPS-9
describe("a cluster that refuses", () => {
  test.each([
    [answers.forbidden("create", "pods"), /the verb create on pods/, "denied"],
    [answers.quota, /exceeded quota: sandboxes.*raise the ResourceQuota/, "exhausted"],
    [answers.podSecurity, /violates PodSecurity.*restricted/, "denied"],
    [answers.noRuntimeClass("kata"), /"kata" not found.*REEVE_SANDBOX_RUNTIME/, "denied"],
  ])("a pod is reported with its reason and a remedy (%#)", async (answer, message, kind) => {
    refuse("POST", /\/pods$/, answer);
    await expect(driverFor().open(spec, signal)).rejects.toMatchObject({
      kind,
      message: expect.stringMatching(message) as string,
    });
  });

  test.skipIf(skipReason !== "")("to attach is reported with the missing right", async () => {
    refuse("GET", /\/attach$/, answers.forbidden("create", "pods/attach"));
    const opened = driverFor().open(spec, signal);
    expect(await errorOf(opened)).toMatch(/the verb create on pods\/attach/);
    await expectNothingLeft();
  });
});

describe.skipIf(skipReason !== "")(`a running pod${skipReason}`, () => {
  test.each([
    ["is evicted", statuses.evicted, "sandbox_lost"],
    ["has exceeded its disk limit", statuses.overfull, "disk_limit"],
    ["has exceeded its memory limit", statuses.outOfMemory, "oom"],
  ])("that %s ends its command with the reason", async (_, status, reason) => {
    const driver = driverFor();
    await using session = await driver.open(spec, signal);
    const end = () => cluster.pods.end(session.sessionId, status);
    expect(await runWhile(session, end)).toBe(reason);
    expect(await session.settled()).toBe(false);
    await expectNothingLeft();
  });

  test("clears the termination log of the kubelet after each command", async () => {
    await using session = await driverFor().open(spec, signal);
    const outputOf = async (script: string) => {
      const argv = ["/bin/sh", "-c", script];
      const box = {
        isolation: "",
        exec: (...given: Parameters<typeof session.exec>) => session.exec(...given),
      };
      return (await collect(box, { argv, limits: limitsOf() }, signal)).text("stdout");
    };
    const file = "/dev/termination-log";
    expect(await outputOf(`echo left > ${file}; cat ${file}`)).toBe("left\n");
    expect(await outputOf(`cat ${file}`)).toBe("");
    expect(await session.settled()).toBe(true);
  });

  test("is lost if the API server goes away", async () => {
    await using session = await driverFor().open(spec, signal);
    expect(await runWhile(session, () => cluster.goAway())).toBe("sandbox_lost");
    const opened = driverFor({ startTimeoutMs: 1_000 }).open(spec, signal);
    expect(await errorOf(opened)).toMatch(/does not answer.*network policy/);
  });

  test("is found running although the watch is silent", async () => {
    cluster.pods.store.isSilent = true;
    cluster.pods.live = async (pod) => {
      await vi.waitFor(() => expect(cluster.requests.join()).toContain("?watch"), 10_000);
      await cluster.pods.run(pod);
    };
    await using session = await driverFor().open(spec, signal);
    expect(await session.settled()).toBe(true);
  });

  test.each([
    ["as an answer", () => refuseOnce(/\/pods$/, answers.expired)],
    ["as an event", () => void 0],
  ])("is found running after the watch expired, reported %s", async (_, prepare) => {
    prepare();
    cluster.pods.live = async (pod) => {
      const watched = () => cluster.requests.filter((each) => each.endsWith("?watch")).length;
      await vi.waitFor(() => expect(watched()).toBe(1), 10_000);
      cluster.pods.store.sendEvent("ERROR", answers.expired.body);
      await vi.waitFor(() => expect(watched()).toBe(2), 10_000);
      await cluster.pods.run(pod);
    };
    await using session = await driverFor().open(spec, signal);
    expect(await session.settled()).toBe(true);
  });
});

/** Answers the first watch with `answer`. */
function refuseOnce(path: RegExp, answer: Answer): void {
  let isDone = false;
  cluster.override = (request) => {
    if (isDone || !request.query.has("watch") || !path.test(request.path)) return undefined;
    isDone = true;
    return answer;
  };
}

describe.skipIf(skipReason !== "")(`the pods of other toolhosts${skipReason}`, () => {
  test("are orphans if their toolhost is gone, and not while it is alive", async () => {
    const session = await driverFor().open(spec, signal);
    const { sessionId } = session;
    const other = driverFor();
    const isOrphan = async () =>
      (await other.list(signal)).find((each) => each.sessionId === sessionId)?.isOrphan;
    expect(await isOrphan()).toBe(false);
    vi.spyOn(performance, "now").mockReturnValue(performance.now() + 100_000);
    expect(await isOrphan()).toBe(true);
    const [lease] = cluster.leases.objects.values();
    if (lease !== undefined)
      cluster.leases.put(structuredClone({ ...lease, spec: { renewTime: "later" } }));
    expect(await isOrphan()).toBe(false);
    vi.restoreAllMocks();
    await other.destroy(sessionId, signal);
    await expectNothingLeft();
    await session[Symbol.asyncDispose]();
  });

  test("name the lease of their toolhost as their controller, so that a drain evicts them", async () => {
    await using session = await driverFor().open(spec, signal);
    const pod = cluster.pods.store.objects.get(session.sessionId);
    const [lease] = cluster.leases.objects.values();
    const { name, uid } = lease?.metadata ?? {};
    expect(uid).toBeDefined();
    expect(pod?.metadata.ownerReferences).toEqual([
      { apiVersion: "coordination.k8s.io/v1", kind: "Lease", name, uid, controller: true },
    ]);
  });

  test("are orphans when they have ended", async () => {
    await using session = await driverFor().open(spec, signal);
    cluster.pods.become(session.sessionId, statuses.done);
    const { sessionId } = session;
    expect(await driverFor().list(signal)).toEqual([{ sessionId, isOrphan: true }]);
  });

  test("are no orphans while the cluster deletes them", async () => {
    const driver = driverFor();
    const session = await driver.open(spec, signal);
    const { sessionId } = session;
    const pod = cluster.pods.store.objects.get(sessionId);
    await session[Symbol.asyncDispose]();
    await expectNothingLeft();
    if (pod === undefined) throw new Error("the session has no pod");
    const metadata = { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
    cluster.pods.store.put({ ...pod, metadata }, "ADDED");
    expect(await driver.list(signal)).toEqual([]);
  });

  test("end by themselves when their toolhost is gone", async () => {
    const session = await driverFor().open(spec, signal);
    await immediate();
    cluster.pods.disconnect();
    await vi.waitFor(() => expect(cluster.pods.running).toBe(0), 10_000);
    await session[Symbol.asyncDispose]();
  });
});
