import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import type { V1DeploymentSpec } from "@kubernetes/client-node";
import { userNames } from "@reeve/jetstream/access/server-users";
import { describe, expect, test } from "vitest";
import { natsProgram } from "../support/nats-program.ts";
import { bytesOf } from "./policies/images-and-resources.ts";
import { isNamed } from "./support/kubernetes-object.ts";
import type { Workload } from "./support/manifests.ts";
import { ofKind, workloadsOf } from "./support/manifests.ts";
import { noRenderer, render, renderer } from "./support/render.ts";

/** What is left of a node of two CPUs beside the control plane of a local cluster. */
const freeMillicores = 1_000;

/** The CPU that the pods of a workload request during a rollout, in thousandths. */
function millicoresOf({ object, containers }: Workload): number {
  const { replicas = 1 } = object.spec as V1DeploymentSpec;
  const pods = object.kind === "Deployment" ? replicas + 1 : replicas;
  const cpus = containers.map(({ resources }) => resources?.requests?.["cpu"] ?? "");
  return pods * cpus.reduce((sum, cpu) => sum + Number(/^(\d+)m$/.exec(cpu)?.[1]), 0);
}

/** Starts NATS with a configuration until it is ready, and returns what it logs. */
async function logOfNats(text: string, users: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "reeve-nats-"));
  const config = join(folder, "nats.conf");
  const local = text.replace("/data", folder).replace("/tmp/nats.pid", join(folder, "pid"));
  // -1: any free port.
  const ports = local.replace("4222", "-1").replace("8222", "-1");
  writeFileSync(config, `host: 127.0.0.1\n${ports}`);
  writeFileSync(join(folder, "users.conf"), users);
  const passwords = userNames.map((user) => [
    `REEVE_NATS_${user.toUpperCase()}_PASSWORD`,
    "secret",
  ]);
  const env = { ...process.env, ...(Object.fromEntries(passwords) as Record<string, string>) };
  const server = spawn(natsProgram(), ["--config", config], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(server, "exit");
  let log = "";
  for await (const line of createInterface({ input: server.stderr })) {
    log += `${line}\n`;
    if (line.includes("Server is ready")) server.kill("SIGKILL");
  }
  await ended;
  rmSync(folder, { recursive: true });
  return log;
}

describe.skipIf(renderer === undefined)(
  `the overlay for development${renderer === undefined ? `: ${noRenderer}` : ""}`,
  () => {
    const objects = renderer === undefined ? [] : render("deploy/k8s/overlays/dev");

    test("fits a node of two CPUs while everything is replaced", () => {
      const requested = workloadsOf(objects).map(millicoresOf);
      expect(requested.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(freeMillicores);
    });

    test("needs no StorageClass", () => {
      expect(JSON.stringify(objects)).not.toContain("volumeClaim");
    });

    test("has a NATS server whose limits are below those of its pod", async () => {
      const file = (config: string, name: string) =>
        ofKind(objects, "ConfigMap").find((one) => isNamed(one, config))?.data?.[name] ?? "";
      const log = await logOfNats(file("nats", "nats.conf"), file("nats-users", "users.conf"));
      const shown = (what: string) => {
        const [, size = "", unit = ""] = new RegExp(`${what}: +([\\d.]+) ([MG])B`).exec(log) ?? [];
        return Number(size) * (unit === "G" ? 2 ** 30 : 2 ** 20);
      };
      const server = workloadsOf(objects).find(({ object }) => object.metadata.name === "nats");
      const data = server?.pod.volumes?.find(({ name }) => name === "data")?.emptyDir?.sizeLimit;
      const memory = server?.containers[0]?.resources?.limits?.["memory"];
      expect(shown("Max Memory")).toBeGreaterThan(0);
      expect(shown("Max Memory")).toBeLessThan(bytesOf(memory ?? "") / 2);
      expect(shown("Max Storage")).toBeGreaterThan(0);
      expect(shown("Max Storage")).toBeLessThan(bytesOf(data ?? ""));
    });
  },
);
