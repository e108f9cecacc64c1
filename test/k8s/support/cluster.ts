import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as retryDelay } from "node:timers/promises";
import { promisify } from "node:util";
import { onAbort } from "@reeve/platform/async/on-abort";
import { findProgram } from "@reeve/platform/nats/nats-server";
import type { V1PodSpec } from "@kubernetes/client-node";
import type { KubernetesObject } from "./kubernetes-object.ts";
import { workloadsOf } from "./manifests.ts";
import { freePort } from "../../support/free-ports.ts";
import { render } from "./render.ts";

const namespace = "reeve";
const sandboxes = "reeve-sandboxes";
/** How long after the end of a forward the next one begins. */
const forwardDelayMs = 200;
const provision = "--selector=app.kubernetes.io/name=provision";

/** The image of sandboxes, for tests that execute code. */
const sandboxImage = process.env["REEVE_TEST_SANDBOX_IMAGE"] ?? "";

/** Why no code can run on the cluster, or undefined if it can. */
export const whyNoCode =
  sandboxImage === ""
    ? "REEVE_TEST_SANDBOX_IMAGE does not name an image of sandboxes that the cluster can pull"
    : undefined;

/** Why no cluster is available, or undefined if one is. */
export function whyNoCluster(): string | undefined {
  const { KUBECONFIG: config = "", REEVE_TEST_IMAGE: image = "" } = process.env;
  if (config === "") return "KUBECONFIG is not set";
  if (!existsSync(config)) return `KUBECONFIG names ${config}, which does not exist`;
  if (image === "") return "REEVE_TEST_IMAGE does not name an image that the cluster can pull";
  if (findProgram("kubectl") === undefined) return "kubectl is not on the PATH";
  return undefined;
}

/** Runs kubectl and returns its output. Throws with its error output. */
function kubectl(args: readonly string[], input = ""): string {
  return execFileSync("kubectl", args, { encoding: "utf8", input, maxBuffer: 64 * 1024 * 1024 });
}

/** The development overlay on a cluster. Disposal deletes its namespaces. */
export interface OnCluster extends AsyncDisposable {
  /** The local address of the gateway. */
  readonly url: string;
}

/** Applies the overlay with an image and a folder of scripts. Throws if the namespace is in use. */
export async function deployToCluster(scripts: string): Promise<OnCluster> {
  const namespaces = whyNoCode === undefined ? [namespace, sandboxes] : [namespace];
  for (const each of namespaces) {
    if (kubectl(["get", "namespace", each, "--ignore-not-found", "-o", "name"]) !== "") {
      throw new Error(`namespace ${each} exists on that cluster; remove it first`);
    }
  }
  await using starting = new AsyncDisposableStack();
  starting.defer(() => void kubectl(["delete", "namespace", ...namespaces, "--wait=false"]));
  const folder =
    whyNoCode === undefined ? "deploy/k8s/overlays/dev-sandbox" : "deploy/k8s/overlays/dev";
  const items = [...adapted(render(folder)), scriptsIn(scripts)];
  kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  const inside = ["--namespace", namespace, "--timeout=300s"];
  kubectl(["wait", "--for=condition=complete", "job", provision, ...inside]);
  for (const name of ["gateway", "runtime", "toolhost", "approvals"]) {
    kubectl(["rollout", "status", `deployment/${name}`, ...inside]);
  }
  const port = await freePort();
  const forward = starting.use(new Forward(port));
  await forward.opened;
  const resources = starting.move();
  const url = `http://127.0.0.1:${port}`;
  return { url, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Forwards a local port to a pod of the gateway, and to another one when that pod ends, until it is disposed. */
class Forward implements AsyncDisposable {
  /** Resolves when the port is forwarded for the first time. */
  readonly opened: Promise<void>;
  readonly #opened = Promise.withResolvers<void>();
  readonly #end = new AbortController();
  readonly #forwarding: Promise<void>;

  constructor(port: number) {
    this.opened = this.#opened.promise;
    this.#forwarding = this.#forward(port);
    this.#forwarding.catch((error: unknown) => this.#opened.reject(error));
  }

  async #forward(port: number): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      const args = ["port-forward", "-n", namespace, "service/gateway", `${port}:80`];
      const forward = spawn("kubectl", args, { stdio: ["ignore", "pipe", "inherit"] });
      const ended = once(forward, "exit");
      using _ = onAbort(signal, () => forward.kill());
      // kubectl ends with its pod.
      for await (const line of createInterface({ input: forward.stdout })) {
        if (line.includes("Forwarding from")) this.#opened.resolve();
      }
      await ended;
      await retryDelay(forwardDelayMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#forwarding;
  }
}

/** Returns the names of all sandbox pods. */
export function sandboxPods(): readonly string[] {
  const listed = kubectl(["get", "pods", "-n", sandboxes, "-o", "name"]);
  return listed.split("\n").filter((name) => name !== "");
}

/** Replaces the pods of a deployment one by one. Resolves when all are new. */
export async function restart(name: string): Promise<void> {
  const ask = promisify(execFile);
  await ask("kubectl", ["rollout", "restart", "-n", namespace, `deployment/${name}`]);
  const inside = ["-n", namespace, "--timeout=400s"];
  await ask("kubectl", ["rollout", "status", `deployment/${name}`, ...inside]);
}

function adapted(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const changed = structuredClone(objects) as KubernetesObject[];
  for (const { object, pod, containers } of workloadsOf(changed)) {
    for (const container of containers) {
      if (container.name === "reeve") container.image = process.env["REEVE_TEST_IMAGE"] ?? "";
    }
    for (const variable of containers.flatMap(({ env = [] }) => env)) {
      if (variable.name === "REEVE_SANDBOX_IMAGE") variable.value = sandboxImage;
    }
    if (object.metadata.name === "runtime") mountScripts(pod);
  }
  return changed;
}

function mountScripts(pod: V1PodSpec): void {
  pod.volumes = [...(pod.volumes ?? []), { name: "scripts", configMap: { name: "scripts" } }];
  for (const container of pod.containers) {
    container.volumeMounts = [{ name: "scripts", mountPath: "/scripts" }];
    const scripts = container.env?.find(({ name }) => name === "REEVE_SCRIPTS");
    if (scripts !== undefined) scripts.value = "/scripts";
  }
}

function scriptsIn(folder: string): KubernetesObject {
  const names = ["talk.yaml", "sleep.yaml", "steps.yaml"];
  const data = Object.fromEntries(
    names.map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "scripts", namespace }, data };
}
