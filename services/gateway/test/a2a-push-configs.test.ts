import { create } from "@bufbuild/protobuf";
import { TaskPushesSchema } from "@reeve/contracts/a2a";
import { Role } from "@reeve/contracts/access/role";
import { RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { PushOperations } from "../src/a2a/push/push-operations.ts";
import type { GatewayApi } from "../src/a2a/gateway-api.ts";
import { deliverDue } from "../src/a2a/push/deliver-pushes.ts";
import {
  createConfig,
  deleteConfig,
  getConfig,
  listConfigs,
} from "../src/a2a/push/push-configs.ts";
import { asks, caller, config, portsFor, quiet, task } from "./support/a2a-push-ports.ts";
import { startReceiver } from "./support/a2a-push-receiver.ts";

const never = new AbortController().signal;

test("notifications are sent only where the operator permits it, whatever an address resolves to", async () => {
  const { url, posted } = await startReceiver();
  const { ports } = portsFor(url, []);
  for (const address of [
    "http://169.254.169.254/",
    "https://elsewhere.example/",
    `${url}evil`,
    `${url}/..%2fother`,
    "file:///etc/passwd",
  ]) {
    await expect(createConfig(ports, task, config(address), never)).rejects.toThrow(
      "REEVE_A2A_PUSH",
    );
  }
  await expect(createConfig(ports, task, config(url), never)).rejects.toThrow("not permitted");
  const named = url.replace("127.0.0.1", "localhost");
  const byName = portsFor(named, []);
  await createConfig(byName.ports, task, config(named), never);
  await byName.isAt({ status: RunStatus.COMPLETED });
  const problems: string[] = [];
  const log = { warn: (line: object) => void problems.push(JSON.stringify(line)) };
  await deliverDue(byName.ports, task, log, never);
  expect(posted).toEqual([]);
  expect(problems).toEqual([expect.stringContaining("not permitted")]);
});

test("configurations are replaced by id, limited, and listed without credentials", async () => {
  const url = "https://receiver.example/hooks";
  const { ports } = portsFor(url);
  const created = await createConfig(ports, task, config(url), never);
  expect(created.authentication).toEqual({ scheme: "Bearer", credentials: "" });
  await createConfig(ports, task, { ...config(url), id: created.id, token: "new" }, never);
  expect(await listConfigs(ports, task, never)).toMatchObject([{ id: created.id, token: "" }]);
  expect(await getConfig(ports, task, created.id, never)).toMatchObject({ url });
  await expect(getConfig(ports, task, "other", never)).rejects.toThrow("has no push notification");
  await expect(createConfig(ports, task, { ...config(url), token: "a\nb" }, never)).rejects.toThrow(
    "HTTP headers",
  );
  const further = (token: string) => createConfig(ports, task, { ...config(url), token }, never);
  for (let more = 1; more < 10; more++) await further(`token-${more}`);
  await expect(further("token-10")).rejects.toThrow("limit");
  await deleteConfig(ports, task, created.id, never);
  expect(await listConfigs(ports, task, never)).toHaveLength(9);
});

test("a configuration that is created again, with or without its id, is one, and keeps what was delivered", async () => {
  const { url, posted } = await startReceiver();
  const { ports, isAt } = portsFor(url);
  const created = await createConfig(ports, task, config(url), never);
  await isAt(asks("one"));
  for (const id of ["", created.id]) {
    await deliverDue(ports, task, quiet, never);
    expect(await createConfig(ports, task, { ...config(url), id }, never)).toEqual(created);
  }
  expect(posted).toHaveLength(1);
});

test("changes of configurations are recorded with their caller, and what changes nothing is not", async () => {
  const url = "https://receiver.example/hooks";
  const { ports, acts } = portsFor(url);
  const { id } = await createConfig(ports, task, config(url), never);
  await createConfig(ports, task, config(url), never);
  for (const each of ["other", id, id]) await deleteConfig(ports, task, each, never);
  const resources = [
    { kind: "run", id: task.runId },
    { kind: "push_config", id },
  ];
  const act = { tenant: "acme", ...caller, resources };
  expect(acts).toEqual([
    { ...act, action: "push_config.create" },
    { ...act, action: "push_config.delete" },
  ]);
  expect(JSON.stringify(acts)).not.toMatch(/secret|known|receiver/);
});

test("a tenant has at most 2,000 configurations, whatever others have", async () => {
  const url = "https://receiver.example/hooks";
  const { ports } = portsFor(url);
  const receivers = Array.from({ length: 10 }, () => ({}));
  const full = Array.from({ length: 200 }, () =>
    create(TaskPushesSchema, { tenant: "acme", receivers }),
  );
  const known = Object.assign(() => full, { get: () => undefined });
  const changed = createConfig({ ...ports, known }, task, config(url), never);
  await expect(changed).rejects.toThrow("tenant acme has 2000 push notification configurations");
  await createConfig({ ...ports, known }, { ...task, tenant: "other" }, config(url), never);
  // What adds none is not refused.
  const { id } = await createConfig(ports, task, config(url), never);
  for (const token of ["known", "other"]) {
    await createConfig({ ...ports, known }, task, { ...config(url), id, token }, never);
  }
  expect(await listConfigs(ports, task, never)).toHaveLength(1);
});

test("a tenant that has all of its configurations gets no new tasks with one, but may continue those that have one", async () => {
  const url = "https://receiver.example/hooks";
  const { ports } = portsFor(url);
  const receivers = Array.from({ length: 2_000 }, () => ({}));
  const full = [create(TaskPushesSchema, { tenant: "acme", runId: task.runId, receivers })];
  const known = Object.assign(() => full, { get: () => undefined });
  const identity = { getCaller: async () => ({ tenant: "acme", roles: [Role.RUNNER] }) };
  const operations = new PushOperations({
    // Nothing else of it is used.
    api: { identity } as unknown as GatewayApi,
    agentId: task.agentId,
    urlOf: (artifactId) => artifactId,
    pushes: { ...ports, known },
    signal: never,
  });
  await operations.assertAcceptable(config(url), task.runId);
  for (const runId of ["", "another"]) {
    const refused = operations.assertAcceptable(config(url), runId);
    await expect(refused).rejects.toThrow("tenant acme has 2000");
  }
});
