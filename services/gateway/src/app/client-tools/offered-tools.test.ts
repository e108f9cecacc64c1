import { create } from "@bufbuild/protobuf";
import { StartRunRequestSchema } from "@reeve/contracts/run";
import {
  ClientManifestSchema,
  OfferToolsRequestSchema,
  PermissionClass,
} from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import type { MemoryPorts } from "../../../test/support/memory-ports.ts";
import { ann, memoryPorts, storeAgent } from "../../../test/support/memory-ports.ts";
import { startRun } from "../start-run.ts";
import { manifestTools } from "./manifest-tools.ts";
import { offerTools } from "./offer-tools.ts";

const never = new AbortController().signal;
const eve = { ...ann, subject: "eve" } as unknown as typeof ann;

async function withAgent(spec: Parameters<typeof storeAgent>[2] = {}): Promise<MemoryPorts> {
  const ports = memoryPorts();
  await storeAgent(ports, "helper", spec);
  return ports;
}

/** Offers tools of Eve to the thread, without a stream that stays. */
async function offer(ports: MemoryPorts, clientId: string, tools: object[], caller = eve) {
  const target = { case: "threadId", value: "talk" } as const;
  const request = create(OfferToolsRequestSchema, { target, manifest: { clientId, tools } });
  const end = new AbortController();
  const stream = offerTools(ports, caller, request, clientId, end.signal)[Symbol.asyncIterator]();
  await stream.next();
  end.abort();
  await stream.return?.();
}

async function start(ports: MemoryPorts, more: object = {}) {
  const request = { agentId: "helper", input: "go", threadId: "talk", ...more };
  return await startRun(ports, ann, create(StartRunRequestSchema, request), never);
}

const named = (count: number, prefix: string, more: object = {}) =>
  Array.from({ length: count }, (_, index) => ({ name: `${prefix}${index}`, ...more }));

test("many tools of others leave a run those of its user, 64 in total, and a few warnings", async () => {
  const ports = await withAgent();
  for (const client of ["a", "b", "c"]) await offer(ports, client, named(64, client));
  await offer(ports, "z", named(2, "mine"), ann);
  const { run, warnings } = await start(ports);
  const offered = run.created?.offeredTools ?? [];
  expect(offered).toHaveLength(64);
  expect(offered.slice(0, 2)).toMatchObject([{ name: "mine0" }, { name: "mine1" }]);
  expect(warnings).toHaveLength(21);
  expect(warnings.at(-1)).toBe("client_tools: 110 more tools are left out");
});

test("long descriptions of tools do not fill the calls of the model", async () => {
  const ports = await withAgent();
  await offer(ports, "a", named(20, "a", { description: "x".repeat(4_096) }));
  const { run } = await start(ports);
  expect(run.created?.offeredTools).toHaveLength(16);
});

// Requirement: CHAT-8
test("a tool with the name of an injected argument prevents no run", async () => {
  const ports = await withAgent({ injectedToolArgs: { reason: "why" } });
  const inputSchema = { type: "object", properties: { reason: { type: "string" } } };
  await offer(ports, "a", [{ name: "pick", inputSchema }]);
  expect((await start(ports)).warnings).toEqual([
    "client_tools: pick of client:a is left out: its parameter reason has the name of an injected argument of the agent; rename it",
  ]);
});

test.each([
  [{}, { permissionClass: "editor_mutate" }, "editor"],
  [{ excludedTools: ["pick"] }, {}, "filter"],
])("an agent %o without the tool %o says so", async (spec, tool, reason) => {
  const ports = await withAgent(spec);
  const clientTools = { clientId: "page", tools: [{ name: "pick", ...tool }] };
  const { warnings } = await start(ports, { clientTools });
  const about = warnings.filter((each) => each.startsWith("client_tools: pick of client:page"));
  expect(about).toEqual([expect.stringContaining(reason)]);
});

test.each([
  [{ timeout: { seconds: 10n ** 13n } }, "timeout"],
  [{ timeout: { seconds: 5n, nanos: -7 } }, "timeout"],
  [{ inputSchema: { minimum: Number.NaN } }, "input_schema"],
  [{ description: "\ud800" }, "description"],
])("a manifest that JSON cannot hold is refused: %#", async (wrong, field) => {
  const ports = await withAgent();
  const clientTools = { clientId: "page", tools: [{ name: "pick", ...wrong }] };
  await expect(start(ports, { clientTools })).rejects.toMatchObject({
    kind: "invalid",
    violations: [{ field: `client_tools.tools[0].${field}` }],
  });
});

test("a manifest is refused before its schemas are compiled if that takes too much work", async () => {
  const properties = (prefix: string) =>
    Object.fromEntries(named(20, prefix).map(({ name }) => [name, { properties: { a: {} } }]));
  const tools = named(64, "t").map(({ name }) => ({
    name,
    inputSchema: { type: "object", properties: properties(name) },
    outputSchema: { type: "nothing" },
  }));
  const manifest = create(ClientManifestSchema, { clientId: "page", tools });
  const classes = new Set([PermissionClass.NETWORK]);
  await expect(manifestTools(manifest, "manifest", classes, never)).rejects.toMatchObject({
    violations: [{ field: "manifest.tools", reason: "TOO_LARGE" }],
  });
});

test("a manifest is refused if one of its schemas takes too much work at a time", async () => {
  const properties = Object.fromEntries(named(250, "p").map(({ name }) => [name, { type: [] }]));
  const tools = [{ name: "t", inputSchema: { type: "object", properties } }];
  const manifest = create(ClientManifestSchema, { clientId: "page", tools });
  const classes = new Set([PermissionClass.NETWORK]);
  await expect(manifestTools(manifest, "manifest", classes, never)).rejects.toMatchObject({
    violations: [{ field: "manifest.tools", reason: "TOO_LARGE" }],
  });
});

test("a manifest has 5,000 values at most, also where no schema is compiled", async () => {
  const ports = await withAgent();
  const tools = [
    { name: "t", inputSchema: { examples: [Array.from({ length: 5_000 }, () => ({}))] } },
  ];
  await expect(start(ports, { clientTools: { clientId: "page", tools } })).rejects.toMatchObject({
    violations: [{ field: "client_tools.tools", reason: "TOO_LARGE" }],
  });
});
