import { create } from "@bufbuild/protobuf";
import { createServer } from "node:net";
import { once } from "node:events";
import { status } from "@grpc/grpc-js";
import { OfferedPluginSchema } from "@reeve/contracts/agent";
import {
  DescribePluginsResponseSchema,
  HookPhase,
  RunHookRequestSchema,
  RunHookResponseSchema,
} from "@reeve/contracts/extensions/plugin";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { expect, test } from "vitest";
import type { PluginServerAnswers } from "../../test/support/plugin-server.ts";
import { PluginServer } from "../../test/support/plugin-server.ts";
import { configuredPlugins } from "./configured-plugins.ts";
import { GrpcPlugin } from "./grpc-plugin.ts";
import { PluginRegistry } from "./plugin-registry.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");

/** A server whose plugin `guard` has a version that a test changes. */
function answersOf(plugin: { version: string }, hook?: PluginServerAnswers["hook"]) {
  return {
    describe: () =>
      create(DescribePluginsResponseSchema, {
        plugins: [{ id: "guard", version: plugin.version, phases: [HookPhase.RUN_START] }],
      }),
    hook: hook ?? (async () => create(RunHookResponseSchema)),
  };
}

function configOf(target: string) {
  const metadata = { authorization: "Bearer t" };
  return [
    {
      id: "guard",
      ignoresFailures: false,
      kind: "grpc" as const,
      target,
      tls: undefined,
      metadata,
    },
  ];
}

async function refusing(): Promise<never> {
  throw Object.assign(new Error("no"), { code: status.PERMISSION_DENIED, details: "no" });
}

function unanswered(): Promise<never> {
  return new Promise(() => undefined);
}

const request = create(RunHookRequestSchema, { pluginId: "guard", phase: HookPhase.RUN_START });

// Requirement: RES-5
test("a server in any language answers hooks, with the metadata of the operator", async () => {
  let seen: unknown;
  const answers = answersOf({ version: "1" }, async ({ pluginId }, metadata) => {
    seen = [pluginId, ...metadata.get("authorization")];
    return create(RunHookResponseSchema, { verdict: { case: "allow", value: {} } });
  });
  await using server = await PluginServer.start(answers);
  await using registry = await configuredPlugins(configOf(server.target), log, never);
  const [offer] = registry.offers;
  if (offer === undefined) throw new Error("nothing is offered");
  const { verdict } = await registry.runHook(offer, request, never);
  expect(verdict.case).toBe("allow");
  expect(seen).toEqual(["guard", "Bearer t"]);
});

test("a run uses the version that it started with, or none", async () => {
  const plugin = { version: "1" };
  await using server = await PluginServer.start(answersOf(plugin));
  await using registry = await configuredPlugins(configOf(server.target), log, never);
  const [pinned] = registry.offers;
  if (pinned === undefined) throw new Error("nothing is offered");
  plugin.version = "2";
  expect(await registry.refresh(never)).toBe(true);
  await expect(registry.runHook(pinned, request, never)).rejects.toMatchObject({
    message: expect.stringContaining(
      "the run started with version 1, and the deployment has version 2 now",
    ),
    isElsewhere: true,
  });
  plugin.version = "1";
  await registry.refresh(never);
  await registry.runHook(pinned, request, never);
});

test("a server that refuses fails the hook for good, and one that is away does not", async () => {
  const server = await PluginServer.start(answersOf({ version: "1" }, refusing));
  await using registry = await configuredPlugins(configOf(server.target), log, never);
  const [offer] = registry.offers;
  if (offer === undefined) throw new Error("nothing is offered");
  await expect(registry.runHook(offer, request, never)).rejects.toMatchObject({
    message: "it ended the request with PERMISSION_DENIED: no",
    retryable: false,
  });
  await server[Symbol.asyncDispose]();
  await expect(registry.runHook(offer, request, never)).rejects.toMatchObject({ retryable: true });
  // What it said stays while it is away.
  await registry.refresh(never);
  expect(registry.offers).toMatchObject([{ problem: "" }]);
});

// Requirement: RES-5
test("a server that is no gRPC server is a problem by name without its address, and stops nothing", async () => {
  const other = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as { port: number };
  const logged: unknown[] = [];
  const warn = (fields: unknown) => void logged.push(fields);
  const recording = { ...log, warn } as typeof log;
  await using registry = await configuredPlugins(configOf(`127.0.0.1:${port}`), recording, never);
  expect(registry.offers).toMatchObject([
    { pluginDescriptor: { id: "guard" }, problem: "it does not answer" },
  ]);
  expect(logged).toMatchObject([
    { plugin: "guard", detail: expect.stringContaining("UNAVAILABLE") },
  ]);
  other.close();
});

test("a server of another version than the run may be asked again, and has not begun", async () => {
  const answers = answersOf({ version: "1" }, async () => {
    throw Object.assign(new Error("v2"), { code: status.FAILED_PRECONDITION, details: "v2" });
  });
  await using server = await PluginServer.start(answers);
  await using registry = await configuredPlugins(configOf(server.target), log, never);
  const [offer] = registry.offers;
  if (offer === undefined) throw new Error("nothing is offered");
  await expect(registry.runHook(offer, request, never)).rejects.toMatchObject({
    message: "it ended the request with FAILED_PRECONDITION: v2",
    retryable: true,
    mayHaveBegun: false,
  });
});

/** A registry whose server gets a tenth of a second to describe itself. */
async function impatient(target: string): Promise<PluginRegistry> {
  const [config] = configOf(target);
  if (config === undefined) throw new Error("there is no plugin");
  const supplier = new GrpcPlugin("guard", config, 100);
  const registry = new PluginRegistry([{ id: "guard", ignoresFailures: false, supplier }], log);
  await registry.refresh(never);
  return registry;
}

test("a server that hangs when it is asked for its description is away", async () => {
  const answers = answersOf({ version: "1" });
  await using server = await PluginServer.start({ ...answers, describe: unanswered });
  await using registry = await impatient(server.target);
  expect(registry.isAway("guard")).toBe(true);
});

test("a hook that was not sent before its deadline has not begun", async () => {
  const silent = createServer(() => undefined).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as { port: number };
  const [config] = configOf(`127.0.0.1:${port}`);
  if (config === undefined) throw new Error("there is no plugin");
  await using plugin = new GrpcPlugin("guard", config);
  await expect(plugin.runHook(request, 100, never)).rejects.toMatchObject({
    retryable: true,
    mayHaveBegun: false,
  });
  silent.close();
});

test("a plugin that was removed is a problem by name for the runs that have it", async () => {
  const pinned = create(OfferedPluginSchema, { pluginDescriptor: { id: "guard", version: "1" } });
  await using registry = await configuredPlugins([], log, never);
  const message = expect.stringContaining("does not have it");
  const refused = { message, mayHaveBegun: false, isElsewhere: true };
  await expect(registry.runHook(pinned, request, never)).rejects.toMatchObject(refused);
});

test.each([
  ["the time limit of its tool", { name: "x", timeLimit: { seconds: 1_000_000_000_000n } }],
  ["description has", { name: "x", description: "d".repeat(300_000) }],
])("a plugin whose description does not fit is unusable by name: %s", async (problem, tool) => {
  const plugins = [{ id: "guard", version: "1", tools: [tool] }];
  const answers = {
    describe: () => create(DescribePluginsResponseSchema, { plugins }),
    hook: refusing,
  };
  await using server = await PluginServer.start(answers);
  await using registry = await configuredPlugins(configOf(server.target), log, never);
  expect(registry.offers).toMatchObject([{ problem: expect.stringContaining(problem) }]);
  expect(registry.isAway("guard")).toBe(false);
});

test("the descriptions of all plugins fit into the record of the models", async () => {
  const ids = ["a", "b", "c"];
  const tools = [{ name: "x", description: "d".repeat(250_000) }];
  const answers = {
    describe: () =>
      create(DescribePluginsResponseSchema, {
        plugins: ids.map((id) => ({ id, version: "1", tools })),
      }),
    hook: refusing,
  };
  await using server = await PluginServer.start(answers);
  const configs = ids.flatMap((id) => configOf(server.target).map((each) => ({ ...each, id })));
  await using registry = await configuredPlugins(configs, log, never);
  expect(registry.offers.map(({ problem }) => problem === "")).toEqual([true, true, false]);
});

test("a secret that a plugin repeats is redacted in what it describes and answers", async () => {
  const secret = "topsecret-0123456789";
  processRedaction.keep(secret);
  const tools = [{ name: "t", description: `uses ${secret}` }];
  const answers = {
    describe: () =>
      create(DescribePluginsResponseSchema, { plugins: [{ id: "guard", version: "1", tools }] }),
    hook: async () => create(RunHookResponseSchema, { transform: { instructions: secret } }),
  };
  await using server = await PluginServer.start(answers);
  await using registry = await configuredPlugins(configOf(server.target), log, never);
  const [offer] = registry.offers;
  if (offer === undefined) throw new Error("nothing is offered");
  expect(offer.pluginDescriptor?.tools[0]?.description).toBe("uses [redacted]");
  const { transform } = await registry.runHook(offer, request, never);
  expect(transform?.instructions).toBe("[redacted]");
});

test("an answer that is too large is not asked for again", async () => {
  const instructions = "x".repeat(5_000_000);
  const answers = answersOf({ version: "1" }, async () =>
    create(RunHookResponseSchema, { transform: { instructions } }),
  );
  await using server = await PluginServer.start(answers);
  await using registry = await configuredPlugins(configOf(server.target), log, never);
  const [offer] = registry.offers;
  if (offer === undefined) throw new Error("nothing is offered");
  await expect(registry.runHook(offer, request, never)).rejects.toMatchObject({
    retryable: false,
  });
});

test("a connection that drops during a hook may have begun it", async () => {
  const started = Promise.withResolvers<void>();
  const answers = answersOf({ version: "1" }, () => {
    started.resolve();
    return new Promise(() => undefined);
  });
  const server = await PluginServer.start(answers);
  await using registry = await configuredPlugins(configOf(server.target), log, never);
  const [offer] = registry.offers;
  if (offer === undefined) throw new Error("nothing is offered");
  const dropped = registry.runHook(offer, request, never).catch((error: unknown) => error);
  await started.promise;
  await server[Symbol.asyncDispose]();
  expect(await dropped).toMatchObject({ mayHaveBegun: true, retryable: true });
});

test("a plugin that is away is known to be, until it answers", async () => {
  const server = await PluginServer.start(answersOf({ version: "1" }));
  const { target } = server;
  await server[Symbol.asyncDispose]();
  await using registry = await configuredPlugins(configOf(target), log, never);
  expect(registry.isAway("guard")).toBe(true);
});

test("a change whose report fails is reported again", async () => {
  await using server = await PluginServer.start(answersOf({ version: "1" }));
  await using registry = await configuredPlugins(configOf(server.target), log, never);
  await registry.report(() => Promise.reject(new Error("the store is full")));
  expect(await registry.refresh(never)).toBe(true);
  await registry.report(async () => undefined);
  expect(await registry.refresh(never)).toBe(false);
});

test("a registry that was disposed refuses so that another runtime may be asked", async () => {
  await using server = await PluginServer.start(answersOf({ version: "1" }));
  const registry = await configuredPlugins(configOf(server.target), log, never);
  const [offer] = registry.offers;
  if (offer === undefined) throw new Error("nothing is offered");
  await registry[Symbol.asyncDispose]();
  await expect(registry.runHook(offer, request, never)).rejects.toMatchObject({
    name: "PluginFailure",
    retryable: true,
    mayHaveBegun: false,
  });
});
