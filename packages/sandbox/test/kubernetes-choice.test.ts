import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { chooseDriver } from "../src/lifecycle/choose-driver.ts";
import type { KubernetesOptions } from "../src/kubernetes/driver.ts";
import { KubernetesDriver } from "../src/kubernetes/driver.ts";
import { podManifest } from "../src/kubernetes/spec.ts";
import { collect } from "../src/files/collect.ts";
import { defaultLimits } from "../src/port.ts";
import { limitsOf } from "./support/contract/sandbox-bench.ts";
import { driverOptions } from "./support/kubernetes/driver-options.ts";
import { answers, statuses } from "./support/kubernetes/recorded-answers.ts";
import { RecordedCluster } from "./support/kubernetes/recorded-cluster.ts";
import type { Stored } from "./support/kubernetes/recorded-store.ts";
import { skipReason } from "./support/bubblewrap-here.ts";

const signal = new AbortController().signal;
const silent = { info: () => undefined, warn: () => undefined };
const spec = { ...defaultLimits, workspaceDir: "", readOnly: false };
const warm = {
  namespace: "reeve",
  owner: "the-pool",
  controller: { apiVersion: "agents.x-k8s.io/v1beta1", kind: "Sandbox", name: "warm", uid: "w" },
  image: "reeve-sandbox:0.1.0",
  uid: 65_533,
  runtimeClass: undefined,
  now: 0,
};
let cluster: RecordedCluster;

beforeEach(async () => {
  cluster = await RecordedCluster.start();
});
afterEach(() => cluster[Symbol.asyncDispose]());

function driverFor(other: Partial<KubernetesOptions> = {}): KubernetesDriver {
  return new KubernetesDriver(driverOptions(cluster, other));
}

/** Refuses pods with a RuntimeClass, as a cluster without that class does. */
function withoutRuntimeClass(name: string): void {
  const answer = cluster.pods.answer.bind(cluster.pods);
  cluster.pods.answer = (method, pod, query, body) => {
    const { runtimeClassName } = (body as { spec?: { runtimeClassName?: string } }).spec ?? {};
    if (method !== "POST" || runtimeClassName !== name) return answer(method, pod, query, body);
    return Promise.resolve(answers.noRuntimeClass(name));
  };
}

describe("the kubernetes driver does not work", () => {
  test("outside of a cluster", async () => {
    const driver = driverFor({ kubeconfig: undefined });
    const choice = await chooseDriver("kubernetes", [driver], { log: silent }, signal);
    expect(choice).toMatchObject({
      driver: undefined,
      refusal: expect.stringContaining(
        "kubernetes: this toolhost does not run in a cluster",
      ) as string,
    });
  });

  test("in a pod without a token", async () => {
    const report = await driverFor({ kubeconfig: undefined, isInside: true }).probe(signal);
    expect(report).toMatchObject({
      works: false,
      reason: expect.stringContaining("no service account token") as string,
    });
  });

  test("if the API server does not answer", async () => {
    await cluster.goAway();
    expect(await driverFor().probe(signal)).toMatchObject({
      works: false,
      reason: expect.stringMatching(/https:\/\/localhost:\d+ does not answer/) as string,
    });
  });

  test("without rights, and names all missing ones before it creates anything", async () => {
    for (const right of ["create pods", "get pods/attach"]) cluster.deny.add(right);
    const report = await driverFor().probe(signal);
    expect(report).toMatchObject({
      works: false,
      reason: "the service account lacks rights in namespace reeve: get pods/attach, create pods",
      fixes: ["apply deploy/k8s/components/sandbox"],
    });
    expect(cluster.pods.created).toEqual([]);
  });

  test.each(["reeve-sandbox:latest", "reeve-sandbox", "registry:5000/reeve-sandbox"])(
    "with the image %s, which has no fixed version",
    async (image) => {
      expect(await driverFor({ image }).probe(signal)).toMatchObject({ works: false });
      expect(cluster.pods.created).toEqual([]);
    },
  );

  test("if a pod does not start, and reports the reason of the cluster", async () => {
    cluster.pods.live = ({ metadata: { name } }) => cluster.pods.become(name, statuses.noImage);
    expect(await driverFor({ runtimeClass: "own" }).probe(signal)).toMatchObject({
      works: false,
      reason: expect.stringContaining("ImagePullBackOff") as string,
    });
  });
});

describe.skipIf(skipReason !== "")(`the kubernetes driver works${skipReason}`, () => {
  test("with gVisor if its RuntimeClass exists", async () => {
    const report = await driverFor().probe(signal);
    expect(report).toMatchObject({ works: true, isolates: true, notes: [] });
    expect(cluster.pods.created.map(({ spec }) => spec?.runtimeClassName)).toEqual(["gvisor"]);
  });

  test("without gVisor and without a warning if its RuntimeClass does not exist", async () => {
    withoutRuntimeClass("gvisor");
    expect(await driverFor().probe(signal)).toMatchObject({ works: true, notes: [] });
    expect(cluster.pods.created.map(({ spec }) => spec?.runtimeClassName)).toEqual([undefined]);
  });

  test("only with the named RuntimeClass", async () => {
    withoutRuntimeClass("kata");
    expect(await driverFor({ runtimeClass: "kata" }).probe(signal)).toMatchObject({
      works: false,
      reason: expect.stringContaining('RuntimeClass "kata" not found') as string,
    });
  });

  test("with pods of a warm pool, each claimed for one session and released", async () => {
    cluster.hasClaims = true;
    let count = 0;
    cluster.onClaim = (claim) => {
      const name = `warm-${count++}`;
      const pod = asStored(podManifest(spec, { ...warm, name }));
      cluster.pods.store.put(pod, "ADDED");
      void cluster.pods.run(pod);
      const conditions = [{ type: "Ready", status: "True" }];
      cluster.claims.put({ ...claim, status: { conditions, sandbox: { name } } });
    };
    const driver = driverFor({ warmPool: "sandbox", image: "reeve-sandbox:latest" });
    expect(await driver.probe(signal)).toMatchObject({ works: true });
    await using session = await driver.open(spec, signal);
    const { text } = await collect(
      { isolation: "", exec: (...given) => session.exec(...given) },
      { argv: ["echo", "fine"], limits: limitsOf() },
      signal,
    );
    expect(text("stdout")).toBe("fine\n");
    expect(cluster.claims.objects.get(session.sessionId)).toMatchObject({
      kind: "SandboxClaim",
      spec: { warmPoolRef: { name: "sandbox" }, lifecycle: { shutdownPolicy: "Delete" } },
    });
    expect(await driver.list(signal)).toContainEqual({
      sessionId: session.sessionId,
      isOrphan: false,
    });
    await session[Symbol.asyncDispose]();
    expect(cluster.claims.objects.size).toBe(0);
    expect(cluster.pods.created).toEqual([]);
  });

  test("only if a claim gets a pod, and otherwise reports the status of the claim", async () => {
    cluster.hasClaims = true;
    cluster.onClaim = (claim) => {
      const ready = { type: "Ready", status: "False", reason: "PoolEmpty", message: "no pods" };
      cluster.claims.put({ ...claim, status: { conditions: [ready] } });
    };
    const driver = driverFor({ warmPool: "sandbox", startTimeoutMs: 5_000 });
    expect(await driver.probe(signal)).toMatchObject({
      works: false,
      reason: expect.stringContaining("PoolEmpty: no pods") as string,
    });
    await vi.waitFor(() => expect(cluster.claims.objects.size).toBe(0), 10_000);
  });

  test("with its own pods if there is no agent-sandbox, and reports that", async () => {
    const report = await driverFor({ warmPool: "sandbox" }).probe(signal);
    expect(report).toMatchObject({
      works: true,
      notes: [expect.stringContaining("no agent-sandbox") as string],
    });
  });
});

/** Returns the pod as JSON represents it. */
function asStored(pod: object): Stored {
  return JSON.parse(JSON.stringify(pod)) as Stored;
}
