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

const signal = AbortSignal.timeout(120_000);
const spec = { ...defaultLimits, workspaceDir: "", readOnly: false };
let cluster: RecordedCluster;

beforeEach(async () => {
  cluster = await RecordedCluster.start();
});
afterEach(() => cluster[Symbol.asyncDispose]());

function driverFor(other: Partial<KubernetesOptions> = {}): KubernetesDriver {
  return new KubernetesDriver(driverOptions(cluster, other));
}

/** Answers one kind of request otherwise. */
function refuse(method: string, path: RegExp, answer: Answer): void {
  cluster.override = (asked) =>
    asked.method === method && path.test(asked.path) ? answer : undefined;
}

async function complaintOf(opened: Promise<unknown>): Promise<string> {
  return await opened.then(
    () => "it opened",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

/** Nothing is left that was asked of the cluster. */
async function expectNothingLeft(): Promise<void> {
  await vi.waitFor(() => expect([...cluster.pods.store.objects.keys()]).toEqual([]), 10_000);
}

/** Runs a command that goes on for long, and has something happen once it writes. */
async function meanwhile(session: SandboxSession, happen: () => unknown): Promise<string> {
  const argv = ["/bin/sh", "-c", "echo ready; exec sleep 600"];
  for await (const event of session.exec({ argv, limits: limitsOf() }, signal)) {
    if (event.kind === "out") await happen();
    if (event.kind === "end") return event.reason;
  }
  throw new Error("there was no end");
}

describe("a pod that does not begin", () => {
  test.each([
    ["whose image cannot be pulled", statuses.noImage, /ImagePullBackOff.*REEVE_SANDBOX_IMAGE/],
    ["whose image has no Python", statuses.noProgram, /StartError.*python3/],
  ])("%s is told of at once, with a way out", async (_, status, told) => {
    cluster.pods.live = ({ metadata: { name } }) => cluster.pods.become(name, status);
    const opened = driverFor().open(spec, signal);
    expect(await complaintOf(opened)).toMatch(told);
    await expectNothingLeft();
  });

  test("for which no node has room is waited for, and then told of", async () => {
    cluster.pods.live = ({ metadata: { name } }) => cluster.pods.become(name, statuses.noRoom);
    const opened = driverFor({ beginMs: 1_000 }).open(spec, signal);
    expect(await complaintOf(opened)).toMatch(/Unschedulable: 0\/3 nodes.*kubectl describe/);
    await expectNothingLeft();
  });

  test("is given back when nobody wants it any more, and nobody waits for that", async () => {
    cluster.pods.live = ({ metadata: { name } }) => cluster.pods.become(name, statuses.creating);
    const stop = new AbortController();
    const opened = driverFor().open(spec, stop.signal);
    await vi.waitFor(() => expect(cluster.pods.made).toHaveLength(1));
    stop.abort(new Error("nobody waits"));
    expect(await complaintOf(opened)).toBe("nobody waits");
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
  ])("a pod says why, and what would help (%#)", async (answer, told, kind) => {
    refuse("POST", /\/pods$/, answer);
    await expect(driverFor().open(spec, signal)).rejects.toMatchObject({
      kind,
      message: expect.stringMatching(told) as string,
    });
  });

  test.skipIf(skipReason !== "")("its streams names the right that is missing", async () => {
    refuse("GET", /\/attach$/, answers.forbidden("create", "pods/attach"));
    const opened = driverFor().open(spec, signal);
    expect(await complaintOf(opened)).toMatch(/the verb create on pods\/attach/);
    await expectNothingLeft();
  });
});

describe.skipIf(skipReason !== "")(`a running pod${skipReason}`, () => {
  test.each([
    ["is evicted", statuses.evicted, "sandbox_lost"],
    ["has filled its workspace", statuses.overfull, "disk_limit"],
    ["has used up its memory", statuses.outOfMemory, "oom"],
  ])("that %s ends its command with the reason", async (_, status, reason) => {
    const driver = driverFor();
    await using session = await driver.open(spec, signal);
    const end = () => cluster.pods.end(session.sessionId, status);
    expect(await meanwhile(session, end)).toBe(reason);
    expect(await session.settled()).toBe(false);
    await expectNothingLeft();
  });

  test("keeps nothing of a command in what a kubelet has put there", async () => {
    await using session = await driverFor().open(spec, signal);
    const said = async (script: string) => {
      const argv = ["/bin/sh", "-c", script];
      const box = {
        isolation: "",
        exec: (...given: Parameters<typeof session.exec>) => session.exec(...given),
      };
      return (await collect(box, { argv, limits: limitsOf() }, signal)).text("stdout");
    };
    const file = "/dev/termination-log";
    expect(await said(`echo left > ${file}; cat ${file}`)).toBe("left\n");
    expect(await said(`cat ${file}`)).toBe("");
    expect(await session.settled()).toBe(true);
  });

  test("whose API server goes away is lost", async () => {
    await using session = await driverFor().open(spec, signal);
    expect(await meanwhile(session, () => cluster.goAway())).toBe("sandbox_lost");
    const opened = driverFor({ beginMs: 1_000 }).open(spec, signal);
    expect(await complaintOf(opened)).toMatch(/does not answer.*network policy/);
  });

  test("is begun over a watch that says nothing", async () => {
    cluster.pods.store.isSilent = true;
    cluster.pods.live = async (pod) => {
      await vi.waitFor(() => expect(cluster.requests.join()).toContain("?watch"));
      await cluster.pods.run(pod);
    };
    await using session = await driverFor().open(spec, signal);
    expect(await session.settled()).toBe(true);
  });

  test.each([
    ["by its answer", () => refuseOnce(/\/pods$/, answers.expired)],
    ["in the middle of it", () => void 0],
  ])("is begun over a watch that is too old, told %s", async (_, prepare) => {
    prepare();
    cluster.pods.live = async (pod) => {
      const watched = () => cluster.requests.filter((each) => each.endsWith("?watch")).length;
      await vi.waitFor(() => expect(watched()).toBe(1));
      cluster.pods.store.say("ERROR", answers.expired.body);
      await vi.waitFor(() => expect(watched()).toBe(2));
      await cluster.pods.run(pod);
    };
    await using session = await driverFor().open(spec, signal);
    expect(await session.settled()).toBe(true);
  });
});

/** Answers the first watch otherwise. */
function refuseOnce(path: RegExp, answer: Answer): void {
  let isDone = false;
  cluster.override = (asked) => {
    if (isDone || !asked.query.has("watch") || !path.test(asked.path)) return undefined;
    isDone = true;
    return answer;
  };
}

describe.skipIf(skipReason !== "")(`of what toolhosts leave${skipReason}`, () => {
  test("the pods of one that lives are left alone, and those of one that is gone are found", async () => {
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

  test("a pod that has ended is found, whoever's it is", async () => {
    await using session = await driverFor().open(spec, signal);
    cluster.pods.become(session.sessionId, statuses.done);
    const { sessionId } = session;
    expect(await driverFor().list(signal)).toEqual([{ sessionId, isOrphan: true }]);
  });

  test("a pod ends by itself when its toolhost is gone", async () => {
    const session = await driverFor().open(spec, signal);
    await immediate();
    cluster.pods.disconnect();
    await vi.waitFor(() => expect(cluster.pods.running).toBe(0), 10_000);
    await session[Symbol.asyncDispose]();
  });
});
