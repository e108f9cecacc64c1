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
  const transport = createRouterTransport(({ service }) => {
    service(AgentService, {
      listAgents: () => ({
        agents: [...stored.keys()].filter((id) => id !== hidden).map((id) => ({ spec: { id } })),
      }),
      createAgent: ({ spec }) => {
        if (stored.has(spec?.id ?? "")) throw new ConnectError("exists", Code.AlreadyExists);
        stored.set(spec?.id ?? "", spec === undefined ? [] : [spec]);
        return {};
      },
      updateAgent: ({ spec }) => {
        const revisions = stored.get(spec?.id ?? "");
        if (spec === undefined || revisions === undefined) {
          throw new ConnectError("no such agent", Code.NotFound);
        }
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
  const run = (spec: MessageInitShape<typeof AgentSpecSchema>) =>
    runDraft(
      clients,
      { spec: create(AgentSpecSchema, spec), input: "Try.", requestId: "r" },
      never,
    );
  return { stored, started, run };
}

test("a draft runs as a new revision of an agent of its own, and changes no other agent", async () => {
  const { stored, started, run } = served();
  expect(await run({ id: "writer", name: "Writer", model: "a" })).toBe("run_1");
  await run({ id: "writer", name: "Writer", model: "b" });
  expect([...stored.keys()]).toEqual(["writer-draft"]);
  expect(stored.get("writer-draft")?.map(({ name, model }) => [name, model])).toEqual([
    ["Writer (draft)", "a"],
    ["Writer (draft)", "b"],
  ]);
  expect(started).toEqual(['writer-draft@1 {"draft":"true"}', 'writer-draft@2 {"draft":"true"}']);
});

test("a draft that the list does not show is found, too", async () => {
  const { started, run } = served("writer-draft");
  await run({ id: "writer", name: "Writer", model: "a" });
  await run({ id: "writer", name: "Writer", model: "b" });
  expect(started.at(-1)).toBe('writer-draft@2 {"draft":"true"}');
});

test("the id of a draft is a valid id, and a draft is its own draft", () => {
  expect(draftIdOf("a".repeat(63))).toHaveLength(63);
  expect(draftIdOf("writer-draft")).toBe("writer-draft");
});
