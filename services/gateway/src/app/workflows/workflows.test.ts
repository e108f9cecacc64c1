import { create } from "@bufbuild/protobuf";
import { WorkflowSchema } from "@reeve/contracts/extensions/workflow";
import { ListNodeTypesRequestSchema } from "@reeve/contracts/extensions/workflow";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { CheckedRule, QueueHolderSchema } from "@reeve/contracts/queue";
import { workflowViolations } from "@reeve/agent/workflow/check/check-workflow";
import { describe, expect, test } from "vitest";
import { ann, memoryPorts, storeAgent } from "../../../test/support/memory-ports.ts";
import { createAgent, listAgents } from "../agents.ts";
import { listNodeTypes } from "./list-node-types.ts";
import { workflowContextOf } from "./workflow-context.ts";

const never = new AbortController().signal;
const workflow = create(WorkflowSchema, {
  nodes: [
    { id: "in", type: "input" },
    { id: "do", type: "agent:writer" },
    { id: "out", type: "output" },
  ],
  edges: [
    { source: "in", target: "do" },
    { source: "do", target: "out" },
  ],
});

async function withAgents() {
  const ports = memoryPorts();
  await storeAgent(ports, "writer");
  await storeAgent(ports, "flow", { workflow, delegates: ["writer"], model: "" });
  return ports;
}

async function typesOf(init: Parameters<typeof create<typeof ListNodeTypesRequestSchema>>[1]) {
  const ports = await withAgents();
  const request = create(ListNodeTypesRequestSchema, init);
  const { items } = await listNodeTypes(ports, ann, request, never);
  return items.map(({ id }) => id);
}

// Requirement: WF-1
describe("the node types of a tenant", () => {
  test("are the built-in ones, and one for each tool, agent, and workflow", async () => {
    const ids = await typesOf({});
    expect(ids).toEqual(expect.arrayContaining(["condition", "tool:add_todo", "agent:writer"]));
    expect(ids).toContain("workflow:flow");
    expect(ids).not.toContain("tool:agent_run_writer");
  });

  test("are those of one agent, and those that a query finds", async () => {
    const ids = await typesOf({ agentId: "flow" });
    expect(ids).toContain("agent:writer");
    expect(ids).not.toContain("workflow:flow");
    expect((await typesOf({ query: "todo status" }))[0]).toBe("tool:update_todo_status");
    await expect(typesOf({ agentId: "stranger" })).rejects.toMatchObject({ kind: "not_found" });
  });

  test("are what a graph is validated against", async () => {
    const context = await workflowContextOf(await withAgents(), ann, "", never);
    expect(workflowViolations(workflow, context)).toEqual([]);
    const other = create(WorkflowSchema, { nodes: [{ id: "x", type: "agent:flow" }] });
    expect(workflowViolations(other, context)).toMatchObject([
      { field: "workflow.nodes[0].type", reason: "WRONG_NODE_TYPE" },
      { reason: "MISSING_INPUT" },
    ]);
    expect(workflowViolations(create(WorkflowSchema), context)).toMatchObject([
      { field: "workflow.nodes" },
    ]);
  });
});

describe("an agent with a workflow", () => {
  const spec = create(AgentSpecSchema, {
    id: "next",
    name: "next",
    delegates: ["flow"],
    workflow: {
      nodes: [
        { id: "in", type: "input" },
        { id: "do", type: "agent:flow" },
      ],
      edges: [{ source: "in", target: "do" }],
    },
  });

  test("is listed apart from others", async () => {
    const ports = await withAgents();
    const page = { pageSize: 0, pageToken: "" };
    const ids = async (hasWorkflow?: boolean) => {
      const request = hasWorkflow === undefined ? page : { ...page, hasWorkflow };
      const { items } = await listAgents(ports, "acme", request, never);
      return items.map((agent) => agent.spec?.id);
    };
    expect(await ids(true)).toEqual(["flow"]);
    expect(await ids(false)).toEqual(["writer"]);
    expect(await ids()).toEqual(["flow", "writer"]);
  });

  test("is refused if a node calls a workflow as an agent", async () => {
    const ports = await withAgents();
    await expect(createAgent(ports, ann, { spec, shape: [] }, never)).rejects.toMatchObject({
      violations: [{ field: "spec.workflow.nodes[1].type", reason: "WRONG_NODE_TYPE" }],
    });
  });

  test("is not stored while a runtime is alive that would ignore the workflow", async () => {
    const ports = await withAgents();
    const checks = [CheckedRule.DELEGATES];
    const holder = create(QueueHolderSchema, { holder: "runtime-old", checks });
    await ports.holders.put(holder.holder, holder, never);
    const valid = create(AgentSpecSchema, { ...spec, delegates: ["writer"], workflow });
    await expect(createAgent(ports, ann, { spec: valid, shape: [] }, never)).rejects.toMatchObject({
      reason: ErrorReason.RUNTIME_OUTDATED,
      metadata: { field: "workflow" },
    });
  });
});
