import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema, timestampMs } from "@bufbuild/protobuf/wkt";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema, ApprovalPolicySchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { CheckedRule, QueueHolderSchema } from "@reeve/contracts/queue";
import { describe, expect, test } from "vitest";
import { memoryPorts } from "../../test/support/memory-ports.ts";
import type { SentSpec } from "./agents.ts";
import { createAgent, deleteAgent, getAgent, listAgents, updateAgent } from "./agents.ts";

const never = new AbortController().signal;
const ann = { tenant: "acme", subject: "ann" };
const firstPage = { pageSize: 0, pageToken: "" };

function specOf(id: string, more: Partial<Omit<AgentSpec, "$typeName">> = {}): SentSpec {
  const spec = create(AgentSpecSchema, { id, name: id, model: "known", ...more });
  return { spec, shape: [] };
}

async function withAgents(...ids: readonly string[]) {
  const ports = memoryPorts();
  for (const id of ids) await createAgent(ports, ann, specOf(id), never);
  return ports;
}

async function idsOf(ports: ReturnType<typeof memoryPorts>, tenant: string, page = firstPage) {
  const { items, nextPageToken } = await listAgents(ports, tenant, page, never);
  return { ids: items.map(({ spec }) => spec?.id), nextPageToken };
}

const stopOnErrors = { stop: fromJson(ValueSchema, { consecutive_errors: 3 }) };

describe("an agent", () => {
  test("is stored once, at revision 1", async () => {
    const ports = await withAgents("writer");
    const agent = await getAgent(ports, "acme", "writer", never);
    expect(agent).toMatchObject({ spec: { id: "writer" }, revision: 1 });
    expect(agent.createdAt).toEqual(agent.updatedAt);
    await expect(createAgent(ports, ann, specOf("writer"), never)).rejects.toMatchObject({
      kind: "exists",
      reason: ErrorReason.AGENT_EXISTS,
      metadata: { agent_id: "writer" },
    });
  });

  test("with calls that need a passkey is not stored while a runtime is alive that would ignore that", async () => {
    const base = memoryPorts();
    const ports = { ...base, offer: () => ({ ...base.offer(), hasPasskeys: true }) };
    const approvalPolicy = create(ApprovalPolicySchema, { stepUp: { tools: ["pay"] } });
    const holder = create(QueueHolderSchema, { holder: "runtime-old" });
    await ports.holders.put(holder.holder, holder, never);
    const outdated = {
      kind: "precondition",
      reason: ErrorReason.RUNTIME_OUTDATED,
      message: expect.stringContaining("runtime-old would ignore approval_policy.step_up"),
    };
    const careful = specOf("careful", { approvalPolicy });
    await expect(createAgent(ports, ann, careful, never)).rejects.toMatchObject(outdated);
    await createAgent(ports, ann, specOf("careful"), never);
    await expect(updateAgent(ports, ann, careful, {}, never)).rejects.toMatchObject(outdated);
    await ports.holders.put(holder.holder, { ...holder, checks: [CheckedRule.STEP_UP] }, never);
    expect((await updateAgent(ports, ann, careful, {}, never)).agent.revision).toBe(2);
  });

  test.each<[string, Partial<Omit<AgentSpec, "$typeName">>, CheckedRule]>([
    ["sections.stop", { sections: stopOnErrors }, CheckedRule.STOP_CONDITIONS],
    ["output_schema", { outputSchema: { type: "object" } }, CheckedRule.OUTPUT_SCHEMA],
  ])(
    "with %s is not stored while a runtime is alive that would ignore it",
    async (field, init, rule) => {
      const ports = memoryPorts();
      const holder = create(QueueHolderSchema, {
        holder: "runtime-old",
        checks: [CheckedRule.STEP_UP],
      });
      await ports.holders.put(holder.holder, holder, never);
      const stored = () => createAgent(ports, ann, specOf("typed", init), never);
      await expect(stored()).rejects.toMatchObject({
        reason: ErrorReason.RUNTIME_OUTDATED,
        metadata: { runtimes: "runtime-old", field },
      });
      await ports.holders.put(holder.holder, { ...holder, checks: [rule] }, never);
      expect((await stored()).agent.revision).toBe(1);
    },
  );

  test("that does not exist is refused with the closest id of the tenant", async () => {
    const ports = await withAgents("writer", "reviewer");
    const asked = (tenant: string, id: string) => getAgent(ports, tenant, id, never);
    await expect(asked("acme", "writter")).rejects.toThrow("not found; did you mean writer?");
    await expect(asked("acme", "weather")).rejects.toThrow("not found; create it first");
    await expect(asked("globex", "writter")).rejects.toThrow("not found; create it first");
  });

  test("that does not exist is compared with a limited number of others", async () => {
    const { agents } = await withAgents(...Array.from({ length: 250 }, (_, index) => `a${index}`));
    let read = 0;
    const counted: typeof agents = Object.assign(Object.create(agents) as typeof agents, {
      list: () => Promise.reject(new Error("reads the whole tenant")),
      watch: async function* (...args: Parameters<typeof agents.watch>) {
        for await (const change of agents.watch(...args)) {
          read += 1;
          yield change;
        }
      },
      get: agents.get.bind(agents),
    });
    await expect(getAgent({ agents: counted }, "acme", "a1x", never)).rejects.toThrow("not found");
    expect(read).toBe(200);
  });

  test("is created once by many concurrent requests with one id", async () => {
    const ports = memoryPorts();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () => createAgent(ports, ann, specOf("writer"), never)),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("keeps its creation time when it is replaced", async () => {
    const ports = await withAgents("writer");
    const before = await getAgent(ports, "acme", "writer", never);
    const spec = specOf("writer", { instructions: "write" });
    const { agent } = await updateAgent(ports, ann, spec, { revision: 1 }, never);
    expect(agent).toMatchObject({ revision: 2, createdAt: before.createdAt });
    expect(agent.updatedAt && timestampMs(agent.updatedAt)).toBeGreaterThan(0);
    expect(await getAgent(ports, "acme", "writer", never)).toEqual(agent);
  });

  test("names the author of its revision", async () => {
    const ports = await withAgents("writer");
    expect(await getAgent(ports, "acme", "writer", never)).toMatchObject({ createdBy: "ann" });
    const bob = { tenant: "acme", subject: "bob" };
    await updateAgent(ports, bob, specOf("writer"), { revision: 1 }, never);
    const replaced = await getAgent(ports, "acme", "writer", never);
    expect(replaced).toMatchObject({ revision: 2, createdBy: "bob" });
  });

  test("is replaced only at the given revision", async () => {
    const ports = await withAgents("writer");
    await updateAgent(ports, ann, specOf("writer"), { revision: 1 }, never);
    await expect(
      updateAgent(ports, ann, specOf("writer"), { revision: 1 }, never),
    ).rejects.toMatchObject({
      kind: "conflict",
      reason: ErrorReason.REVISION_CONFLICT,
      metadata: { revision: "2" },
    });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () =>
        updateAgent(ports, ann, specOf("writer"), { revision: 2 }, never),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect((await getAgent(ports, "acme", "writer", never)).revision).toBe(3);
  });

  test("is replaced at any revision by requests without a revision", async () => {
    const ports = await withAgents("writer");
    const stored = await Promise.all(
      Array.from({ length: 8 }, () => updateAgent(ports, ann, specOf("writer"), {}, never)),
    );
    const revisions = stored.map(({ agent }) => agent.revision).toSorted((a, b) => a - b);
    expect(revisions).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test("that is deleted is not found, and its id is free", async () => {
    const ports = await withAgents("writer");
    await deleteAgent(ports, "acme", { agentId: "writer" }, never);
    const refusal = { kind: "not_found", reason: ErrorReason.AGENT_NOT_FOUND };
    await expect(getAgent(ports, "acme", "writer", never)).rejects.toMatchObject(refusal);
    await expect(deleteAgent(ports, "acme", { agentId: "writer" }, never)).rejects.toMatchObject(
      refusal,
    );
    await expect(updateAgent(ports, ann, specOf("writer"), {}, never)).rejects.toMatchObject(
      refusal,
    );
    await createAgent(ports, ann, specOf("writer"), never);
  });

  test("is only deleted at the revision that the caller has seen", async () => {
    const ports = await withAgents("writer");
    await updateAgent(ports, ann, specOf("writer"), { revision: 1 }, never);
    const seen = { agentId: "writer", revision: 1 };
    await expect(deleteAgent(ports, "acme", seen, never)).rejects.toMatchObject({
      kind: "conflict",
      reason: ErrorReason.REVISION_CONFLICT,
    });
    await deleteAgent(ports, "acme", { ...seen, revision: 2 }, never);
  });

  test("stays in the set in which it was created", async () => {
    const ports = memoryPorts();
    await createAgent(ports, ann, { ...specOf("writer"), managedBy: "newsroom" }, never);
    await updateAgent(ports, ann, specOf("writer"), {}, never);
    expect(await getAgent(ports, "acme", "writer", never)).toMatchObject({
      revision: 2,
      managedBy: "newsroom",
    });
  });

  test("that was deleted and created by hand is neither updated nor deleted for its former set", async () => {
    const ports = memoryPorts();
    await createAgent(ports, ann, { ...specOf("writer"), managedBy: "newsroom" }, never);
    const { revision, managedBy } = await getAgent(ports, "acme", "writer", never);
    await deleteAgent(ports, "acme", { agentId: "writer" }, never);
    await createAgent(ports, ann, specOf("writer"), never);
    const refusal = {
      kind: "conflict",
      reason: ErrorReason.REVISION_CONFLICT,
      message: expect.stringContaining('belongs to no set, not to the set "newsroom"'),
    };
    const seen = { revision, managedBy };
    await expect(
      deleteAgent(ports, "acme", { agentId: "writer", ...seen }, never),
    ).rejects.toMatchObject(refusal);
    await expect(updateAgent(ports, ann, specOf("writer"), seen, never)).rejects.toMatchObject(
      refusal,
    );
    await deleteAgent(ports, "acme", { agentId: "writer", revision: 1, managedBy: "" }, never);
  });

  // Requirement: CFG-11, HITL-5
  test("that is invalid is not stored, and all violations are reported with their paths", async () => {
    const ports = memoryPorts();
    const broken = specOf("writer", { model: "nothing", budgetAwareness: "limit:101" });
    await expect(createAgent(ports, ann, broken, never)).rejects.toMatchObject({
      kind: "invalid",
      reason: ErrorReason.INVALID_AGENT,
      violations: expect.arrayContaining([
        expect.objectContaining({ field: "spec.model", reason: "MODEL_NOT_FOUND" }),
        expect.objectContaining({ field: "spec.budget_awareness" }),
      ]),
    });
    await expect(
      createAgent(ports, ann, { spec: undefined, shape: [] }, never),
    ).rejects.toMatchObject({
      violations: [{ field: "spec", reason: "REQUIRED" }],
    });
    expect((await idsOf(ports, "acme")).ids).toEqual([]);
    await createAgent(ports, ann, specOf("writer"), never);
    await expect(updateAgent(ports, ann, broken, {}, never)).rejects.toMatchObject({
      kind: "invalid",
    });
    expect((await getAgent(ports, "acme", "writer", never)).revision).toBe(1);
  });

  test("is visible only to its tenant", async () => {
    const ports = await withAgents("writer");
    const refusal = { kind: "not_found" };
    await expect(getAgent(ports, "globex", "writer", never)).rejects.toMatchObject(refusal);
    await expect(deleteAgent(ports, "globex", { agentId: "writer" }, never)).rejects.toMatchObject(
      refusal,
    );
    expect((await idsOf(ports, "globex")).ids).toEqual([]);
  });
});

describe("the list of agents", () => {
  test("has pages that neither hide nor repeat agents when others are created or deleted in between", async () => {
    const ports = await withAgents("a", "b", "d", "e");
    const first = await idsOf(ports, "acme", { pageSize: 2, pageToken: "" });
    expect(first.ids).toEqual(["a", "b"]);
    await deleteAgent(ports, "acme", { agentId: "b" }, never);
    await createAgent(ports, ann, specOf("c"), never);
    await createAgent(ports, ann, specOf("a0"), never);
    const rest = await idsOf(ports, "acme", { pageSize: 9, pageToken: first.nextPageToken });
    expect(rest).toEqual({ ids: ["c", "d", "e"], nextPageToken: "" });
  });

  test("shows nothing of another tenant for that tenant's page token", async () => {
    const ports = await withAgents("a", "b", "c");
    const { nextPageToken } = await idsOf(ports, "acme", { pageSize: 1, pageToken: "" });
    await createAgent(ports, { tenant: "globex", subject: "zoe" }, specOf("z"), never);
    const page = { pageSize: 9, pageToken: nextPageToken };
    expect((await idsOf(ports, "globex", page)).ids).toEqual(["z"]);
  });
});
