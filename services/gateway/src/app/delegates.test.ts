import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema, ExplainAgentRequestSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { QueueHolderSchema } from "@reeve/contracts/queue";
import { StartRunRequestSchema } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import { expect, test } from "vitest";
import type { MemoryPorts } from "../../test/support/memory-ports.ts";
import { ann, memoryPorts, storeAgent } from "../../test/support/memory-ports.ts";
import { checkAgent, createAgent, updateAgent } from "./agents.ts";
import { explainAgentAccess } from "./explain/explain-agent.ts";
import { planOfSpec } from "./explain/explain-plan.ts";
import { startRun } from "./start-run.ts";

const never = new AbortController().signal;
const specOf = (id: string, ...delegates: string[]) => ({
  spec: create(AgentSpecSchema, { id, name: id, model: "known", delegates }),
  shape: [],
});

async function withAgents(): Promise<MemoryPorts> {
  const ports = memoryPorts();
  await storeAgent(ports, "finder", { delegates: ["checker"] });
  await storeAgent(ports, "checker");
  await storeAgent(ports, "lead", { delegates: ["finder"] });
  return ports;
}

const start = (ports: MemoryPorts) =>
  startRun(ports, ann, create(StartRunRequestSchema, { agentId: "lead", input: "go" }), never);

// Requirement: RES-1, RES-7
test("a run keeps the delegates that it can reach, at the revisions with which it started", async () => {
  const ports = await withAgents();
  const { run } = await start(ports);
  await storeAgent(ports, "finder", { instructions: "changed" });
  await ports.agents.delete("acme.checker", never);
  const { events } = await ports.log.read({ tenant: "acme", run: run.runId }, emptyTail, never);
  const created = events[0]?.event.case === "runCreated" ? events[0].event.value : undefined;
  expect(created?.delegates).toMatchObject([
    { agentId: "checker", revision: 1, spec: { id: "checker" } },
    { agentId: "finder", revision: 1, spec: { id: "finder", instructions: "" } },
  ]);
});

test("a run does not start whose delegate is gone, or which could call itself", async () => {
  const ports = await withAgents();
  await ports.agents.delete("acme.checker", never);
  await expect(start(ports)).rejects.toMatchObject({
    kind: "precondition",
    reason: ErrorReason.AGENT_NOT_FOUND,
    message: expect.stringContaining(`agent "checker", which is a delegate of agent "finder"`),
  });
  await storeAgent(ports, "checker", { delegates: ["lead"] });
  await expect(start(ports)).rejects.toMatchObject({
    reason: ErrorReason.INVALID_AGENT,
    message: expect.stringContaining("lead → finder → checker → lead"),
  });
});

test("an agent with a delegate of another tenant, or with a cycle, is not stored", async () => {
  const ports = await withAgents();
  const globex = { tenant: "globex", subject: "bob" };
  await expect(createAgent(ports, globex, specOf("spy", "finder"), never)).rejects.toMatchObject({
    violations: [{ field: "spec.delegates[0]", reason: "AGENT_NOT_FOUND" }],
  });
  const closing = updateAgent(ports, ann, specOf("checker", "lead"), {}, never);
  await expect(closing).rejects.toMatchObject({
    violations: [{ field: "spec.delegates[0]", reason: "DELEGATE_CYCLE" }],
  });
});

test("an agent with delegates is not stored, and does not run, while a runtime is alive that would ignore them", async () => {
  const ports = await withAgents();
  const holder = create(QueueHolderSchema, { holder: "runtime-old" });
  await ports.holders.put(holder.holder, holder, never);
  const outdated = { reason: ErrorReason.RUNTIME_OUTDATED, metadata: { field: "delegates" } };
  await expect(start(ports)).rejects.toMatchObject(outdated);
  const stored = createAgent(ports, ann, specOf("other", "finder"), never);
  await expect(stored).rejects.toMatchObject(outdated);
});

test("an explanation shows the delegates with their revisions, models, and tools", async () => {
  const ports = await withAgents();
  const request = create(ExplainAgentRequestSchema, { agentId: "lead" });
  const { plan } = await explainAgentAccess(ports, ann, request, never);
  expect(plan?.delegates).toMatchObject([
    { agentId: "checker", revision: 1, models: [{ id: "known" }] },
    { agentId: "finder", tools: expect.arrayContaining(["agent_run_checker", "run_subtask"]) },
  ]);
  await ports.agents.delete("acme.finder", never);
  const broken = await explainAgentAccess(ports, ann, request, never);
  expect(broken.plan).toBeUndefined();
  expect(broken.violations).toMatchObject([{ field: "delegates[0]", reason: "AGENT_NOT_FOUND" }]);
});

test("an agent is not stored with a delegate that has another approval policy, and the reason why none of its runs starts is known", async () => {
  const ports = memoryPorts();
  await storeAgent(ports, "finder", { approvalPolicy: { excludeRequester: true } });
  await storeAgent(ports, "checker", { model: "gone" });
  await expect(createAgent(ports, ann, specOf("lead", "finder"), never)).rejects.toMatchObject({
    violations: [{ field: "spec.delegates", reason: "UNSUPPORTED_CAPABILITY" }],
  });
  const { checked, delegates } = await checkAgent(ports, "acme", specOf("lead", "checker"), never);
  expect(checked.violations).toEqual([]);
  const caller = { tenant: "acme", roles: new Set<never>(), delegates };
  const resolved = planOfSpec(checked.spec, ports, caller);
  expect(resolved?.plan).toBeUndefined();
  expect(resolved?.violations).toMatchObject([
    { field: "delegates", description: expect.stringContaining('agent "checker"') },
  ]);
});

test("a spec is checked with others that are to be stored before it", async () => {
  const ports = await withAgents();
  const { spec: writer } = specOf("writer");
  const check = async (...others: (typeof writer)[]) => {
    const { checked } = await checkAgent(
      ports,
      "acme",
      { ...specOf("editor", "writer"), others },
      never,
    );
    return checked.violations.map(({ field, reason }) => `${field} ${reason}`);
  };
  expect(await check()).toEqual(["spec.delegates[0] AGENT_NOT_FOUND"]);
  expect(await check(writer)).toEqual([]);
  expect(await check(specOf("writer", "editor").spec)).toEqual([
    "spec.delegates[0] DELEGATE_CYCLE",
  ]);
  const many = Array.from({ length: 17 }, (_, n) => `d${n}`);
  expect(
    await check(specOf("writer", "x", "x").spec, writer, specOf("other", ...many).spec),
  ).toEqual(["others[0].delegates TOOL_ID_CONFLICT", "others[2].delegates TOO_MANY_ENTRIES"]);
});
