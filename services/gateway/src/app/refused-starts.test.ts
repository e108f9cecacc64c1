import { Readable } from "node:stream";
import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { PermissionClass, ToolCatalogSchema } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { describe, expect, test } from "vitest";
import { memoryPorts, storeAgent } from "../../test/support/memory-ports.ts";
import { start, withAgent } from "../../test/support/started-runs.ts";

const never = new AbortController().signal;

describe("a run that cannot start now", () => {
  test("is refused and leaves nothing behind", async () => {
    const ports = await withAgent();
    await storeAgent(ports, "stranded", { model: "gone" });
    await expect(start(ports, { agentId: "unknown" })).rejects.toMatchObject({ kind: "not_found" });
    await expect(start(ports, { agentId: "stranded" })).rejects.toBeInstanceOf(Failure);
    await expect(start(ports, { executor: "temporal" })).rejects.toMatchObject({
      kind: "unsupported",
      reason: ErrorReason.UNSUPPORTED_CAPABILITY,
      violations: [{ field: "executor" }],
    });
    expect(ports.log.batches).toEqual([]);
    expect(ports.dispatch.length).toBe(0);
  });
});

async function* bytes() {
  yield await Promise.resolve(Buffer.from("a,b"));
}

test("a new run with files is refused if no toolhost offers workspaces; a repeated request returns its run", async () => {
  const ports = await withAgent();
  const draft = { name: "data.csv", mediaType: "text/csv", runId: "" };
  const { artifactId } = await ports.artifacts.put("acme", draft, bytes(), never);
  const request = { requestId: "r", files: [{ artifactId, path: "data.csv" }] };
  await expect(start(ports, request)).rejects.toMatchObject({
    kind: "unsupported",
    violations: [{ field: "files" }],
  });
  expect(ports.log.batches).toEqual([]);
  const tools = [{ name: "run_command", permissionClass: PermissionClass.EXECUTE }];
  const isolating = create(ToolCatalogSchema, { isolation: "bubblewrap", tools });
  const { models } = ports.offer();
  const { runId } = await start(
    { ...ports, offer: () => ({ tools: [isolating], models }) },
    request,
  );
  expect((await start(ports, request)).runId).toBe(runId);
});

/** Starts an agent with this spec, and returns the refusal. The log stays empty. */
async function refused(spec: Parameters<typeof storeAgent>[2]): Promise<unknown> {
  const ports = memoryPorts();
  await storeAgent(ports, "writer", spec);
  const failure: unknown = await start(ports, { requestId: "r" }).catch((error: unknown) => error);
  expect(ports.log.batches).toEqual([]);
  return failure;
}

describe("a run that cannot start is refused", () => {
  // Requirement: TURN-4
  test("for a model without a price, under a cost limit", async () => {
    const spec = { budgets: { maxCostUsd: 1 } };
    expect(await refused(spec)).toMatchObject({
      kind: "precondition",
      message: expect.stringContaining('model "known" has no price'),
    });
  });

  // Requirement: CFG-2
  test("for a planner whose model no longer exists", async () => {
    const spec = { planningEnabled: true, planningModel: "gone" };
    expect(await refused(spec)).toMatchObject({ reason: ErrorReason.MODEL_NOT_FOUND });
  });

  // Requirement: HITL-5
  test("for a tool that requires an approval, and that nothing offers any more", async () => {
    expect(await refused({ hitlTools: ["ops__deploy"] })).toMatchObject({
      kind: "precondition",
      message: expect.stringContaining('hitl_tools: nothing offers "ops__deploy"'),
    });
  });

  // Requirement: CFG-7
  test("for a tool that now has a parameter that the agent injects", async () => {
    expect(await refused({ injectedToolArgs: { title: "why" } })).toMatchObject({
      reason: ErrorReason.INVALID_AGENT,
      message: expect.stringContaining('"title" is now a parameter of the tool'),
    });
  });
});

// Requirement: CHAT-1
test("a workflow comes before media generation, which is refused by name", async () => {
  const ports = await withAgent();
  const media = { mediaGeneration: { mode: "image" } };
  await expect(start(ports, { workflowTarget: "w1", ...media })).rejects.toMatchObject({
    reason: ErrorReason.AGENT_NOT_FOUND,
    message: expect.stringContaining("w1"),
  });
  await expect(start(ports, { workflowTarget: "writer", ...media })).rejects.toMatchObject({
    violations: [{ field: "workflow_target", reason: "NOT_A_WORKFLOW" }],
  });
  await expect(start(ports, media)).rejects.toMatchObject({
    kind: "unsupported",
    reason: ErrorReason.UNSUPPORTED_CAPABILITY,
    message: expect.stringMatching(/"image".*no provider that generates media of this kind/),
    violations: [{ field: "media_generation.mode" }],
  });
  await expect(start(ports, { mediaGeneration: { mode: "chat" } })).resolves.toBeDefined();
});

// Requirement: CHAT-2
test("a workflow of a context that is no editor is refused", async () => {
  const ports = await withAgent();
  await expect(start(ports, { chatContext: { workflowId: "w1" } })).rejects.toMatchObject({
    kind: "invalid",
    violations: [{ field: "chat_context.workflow_id", reason: "CONTRADICTION" }],
  });
});

// Requirement: DUR-6
test("files that no workspace can hold are refused", async () => {
  const ports = await withAgent();
  const draft = { name: "a", mediaType: "text/plain", runId: "" };
  const content = [new Uint8Array(600)];
  const put = () => ports.artifacts.put("acme", draft, Readable.from(content), never);
  const files = await Promise.all(
    ["a", "b"].map(async (path) => ({ artifactId: (await put()).artifactId, path })),
  );
  const offering = (workspaceBytes: bigint) => {
    const descriptor = { name: "read_file", source: "builtin" };
    const catalog = { isolation: "bubblewrap", tools: [descriptor], sandbox: { workspaceBytes } };
    const tools = [create(ToolCatalogSchema, catalog)];
    return { ...ports, offer: () => ({ ...ports.offer(), tools }) };
  };
  await expect(start(offering(1_199n), { files })).rejects.toMatchObject({
    kind: "unsupported",
    message: expect.stringContaining("files have 1200 bytes in total"),
    violations: [{ field: "files", reason: "UNSUPPORTED_CAPABILITY" }],
  });
  await expect(start(offering(1_200n), { files })).resolves.toBeDefined();
});
