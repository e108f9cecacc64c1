import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import type { AgentSource } from "./discover-agents.ts";
import { discoverAgents } from "./discover-agents.ts";

const never = new AbortController().signal;
const none = { localIds: new Set<string>() };

function source(name: string, ...ids: readonly string[]): AgentSource {
  return { name, listAgents: async () => ids.map((id) => create(AgentSpecSchema, { id })) };
}

// Requirement: RES-12
test("a local agent wins over a remote one, and an id of two sources is ambiguous by name", async () => {
  const sources = [source("east", "writer", "critic", "finder"), source("west", "critic", "judge")];
  const { agents, problems } = await discoverAgents(
    sources,
    { localIds: new Set(["writer"]) },
    never,
  );
  expect(agents.map(({ id }) => id)).toEqual(["critic", "finder", "judge"]);
  expect(problems).toMatchObject([{ field: 'agents["critic"]', reason: "AMBIGUOUS_AGENT" }]);
  expect(problems[0]?.description).toContain("east and west");
});

test("a source that fails, and one that does not answer, are problems by name, and the others are listed", async () => {
  const failing: AgentSource = {
    name: "failing",
    listAgents: () => Promise.reject(new Failure("denied", ErrorReason.PERMISSION_DENIED, "no")),
  };
  const silent: AgentSource = { name: "silent", listAgents: () => new Promise(() => undefined) };
  const sources = [failing, silent, source("good", "writer")];
  const { agents, problems } = await discoverAgents(sources, { ...none, timeoutMs: 10 }, never);
  expect(agents.map(({ id }) => id)).toEqual(["writer"]);
  expect(problems).toEqual([
    { field: 'sources["failing"]', description: "no", reason: "PERMISSION_DENIED" },
    {
      field: 'sources["silent"]',
      description: "did not answer within 10 ms",
      reason: "UNAVAILABLE",
    },
  ]);
});

test("an abort ends the discovery with its reason", async () => {
  const reason = new Error("stop");
  const silent: AgentSource = { name: "silent", listAgents: () => new Promise(() => undefined) };
  await expect(discoverAgents([silent], none, AbortSignal.abort(reason))).rejects.toBe(reason);
});
