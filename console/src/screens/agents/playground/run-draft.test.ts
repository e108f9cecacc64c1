import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { createClient, createRouterTransport, Code, ConnectError } from "@connectrpc/connect";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentService, AgentSpecSchema } from "@reeve/contracts/agent";
import { RunService } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { draftIdOf, runDraft } from "./run-draft.ts";

const never = new AbortController().signal;

/** A server that stores agents, lists those that are not hidden, and keeps what runs were started with. */
function served(hidden = "") {
  const stored = new Map<string, AgentSpec[]>();
  const started: string[] = [];
  const agentOf = (id: string) => {
    const revisions = stored.get(id) ?? [];
    return { spec: revisions.at(-1) ?? { id }, revision: revisions.length };
  };
  const transport = createRouterTransport(({ service }) => {
    service(AgentService, {
      listAgents: () => ({
        agents: [...stored.keys()].filter((id) => id !== hidden).map(agentOf),
      }),
      getAgent: ({ agentId }) => ({ agent: agentOf(agentId) }),
      createAgent: ({ spec }) => {
        if (stored.has(spec?.id ?? "")) throw new ConnectError("exists", Code.AlreadyExists);
        stored.set(spec?.id ?? "", spec === undefined ? [] : [spec]);
        return {};
      },
      updateAgent: ({ spec, revision }) => {
        const revisions = stored.get(spec?.id ?? "");
        if (spec === undefined || revisions === undefined) {
          throw new ConnectError("no such agent", Code.NotFound);
        }
        if (revision !== revisions.length) throw new ConnectError("another", Code.Aborted);
        revisions.push(spec);
        return {};
      },
    });
    service(RunService, {
      startRun: ({ agentId, labels }) => {
        const revision = stored.get(agentId)?.length ?? 0;
        started.push(`${agentId}@${revision} ${JSON.stringify(labels)}`);
        return { run: { runId: `run_${started.length}` } };
      },
    });
  });
  const clients = {
    agents: createClient(AgentService, transport),
    runs: createClient(RunService, transport),
  };
  const run = (init: MessageInitShape<typeof AgentSpecSchema>, subject = "ann") => {
    const spec = create(AgentSpecSchema, init);
    return runDraft(clients, { spec, subject, input: "Try.", requestId: "r" }, never);
  };
  return { stored, started, run };
}

const draftId = draftIdOf("writer", "ann");

test("a draft runs as a new revision of an agent of its own, and changes no other agent", async () => {
  const { stored, started, run } = served();
  expect(await run({ id: "writer", name: "Writer", model: "a" })).toBe("run_1");
  await run({ id: "writer", name: "Writer", model: "b" });
  expect([...stored.keys()]).toEqual([draftId]);
  expect(stored.get(draftId)?.map(({ name, model }) => [name, model])).toEqual([
    ["Draft: Writer", "a"],
    ["Draft: Writer", "b"],
  ]);
  expect(started).toEqual([`${draftId}@1 {"draft":"true"}`, `${draftId}@2 {"draft":"true"}`]);
});

test("a draft that the list does not show is found, too", async () => {
  const { started, run } = served(draftId);
  await run({ id: "writer", name: "Writer", model: "a" });
  await run({ id: "writer", name: "Writer", model: "b" });
  expect(started.at(-1)).toBe(`${draftId}@2 {"draft":"true"}`);
});

test.each(["", draftId])(
  "an agent that is no draft is not replaced, hidden: %j",
  async (hidden) => {
    const { stored, started, run } = served(hidden);
    const real = create(AgentSpecSchema, { id: draftId, name: "Real", model: "a" });
    stored.set(draftId, [real]);
    await expect(run({ id: "writer", name: "Writer", model: "b" })).rejects.toThrow("is no draft");
    expect(stored.get(draftId)).toEqual([real]);
    expect(started).toEqual([]);
  },
);

test("each agent and each person has a draft of its own", async () => {
  const { stored, run } = served();
  const long = "a".repeat(57);
  await run({ id: "writer", name: "Writer" });
  await run({ id: "writer", name: "Writer" }, "bob");
  await run({ id: "writer-draft", name: "Writer" });
  await run({ id: `${long}-one`, name: "Long" });
  await run({ id: `${long}-two`, name: "Long" });
  await run({ id: "", name: "n".repeat(255) });
  expect(stored.size).toBe(6);
  for (const [id, [spec]] of stored) {
    expect(id).toMatch(/^[a-z0-9][a-z0-9-]{0,62}$/);
    expect(new TextEncoder().encode(spec?.name).length).toBeLessThanOrEqual(255);
  }
});
