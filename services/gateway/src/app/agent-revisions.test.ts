import { create } from "@bufbuild/protobuf";
import type { Agent } from "@reeve/contracts/agent";
import { AgentSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { Failure } from "@reeve/platform/failure";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { limitRevisionReads, listAgentRevisions } from "./agent-revisions.ts";

const never = new AbortController().signal;
const firstPage = { pageSize: 0, pageToken: "" };
const altered = new Failure("data_loss", ErrorReason.HISTORY_LOST, "it was altered");

/** Stores revisions of `acme.writer` with these instructions. The given revisions cannot be read. */
async function withRevisions(texts: readonly string[], unreadable: readonly number[] = []) {
  const agents = new MemoryTable<Agent>({
    versionFailureOf: ({ revision }) => (unreadable.includes(revision) ? altered : undefined),
  });
  for (const [index, instructions] of texts.entries()) {
    const spec = { id: "writer", instructions };
    const agent = create(AgentSchema, { spec, revision: index + 1 });
    await agents.put("acme.writer", agent, never);
  }
  const ports = { agents, reads: limitRevisionReads(), log: createLogger("test", "silent") };
  const list = async (page: Partial<typeof firstPage> = {}, tenant = "acme") => {
    const request = { agentId: "writer", ...firstPage, ...page };
    const { items, nextPageToken } = await listAgentRevisions(ports, tenant, request, never);
    return { revisions: items.map(({ revision }) => revision), nextPageToken };
  };
  return { ...ports, list };
}

const missing = { kind: "not_found", reason: ErrorReason.AGENT_NOT_FOUND };

test("an agent has its revisions, the newest first, until it is deleted", async () => {
  const { agents, list } = await withRevisions(["", "one", "two"]);
  const first = await list({ pageSize: 2 });
  expect(first.revisions).toEqual([3, 2]);
  const { nextPageToken: pageToken } = first;
  expect(await list({ pageSize: 2, pageToken })).toEqual({ revisions: [1], nextPageToken: "" });
  await expect(list({}, "globex")).rejects.toMatchObject(missing);
  await agents.delete("acme.writer", never);
  await expect(list()).rejects.toMatchObject(missing);
  await expect(list({ pageToken })).rejects.toMatchObject(missing);
});

test("a page ends at one mebibyte, and the next one continues", async () => {
  const { list } = await withRevisions(["a", "b", "c"].map((text) => text.repeat(500_000)));
  const first = await list();
  expect(first.revisions).toEqual([3, 2]);
  expect((await list({ pageToken: first.nextPageToken })).revisions).toEqual([1]);
});

test("an earlier revision that cannot be read is left out", async () => {
  const { list } = await withRevisions(["one", "two", "three"], [2]);
  expect((await list()).revisions).toEqual([3, 1]);
});

test("a newest revision that cannot be read is refused", async () => {
  const { list } = await withRevisions(["one", "two"], [2]);
  await expect(list()).rejects.toBe(altered);
});

test("a token of another list is refused", async () => {
  const { list } = await withRevisions(["one"]);
  const pageToken = Buffer.from("k:0000000001").toString("base64url");
  await expect(list({ pageToken })).rejects.toMatchObject({ kind: "invalid" });
});

test("a tenant reads a limited number of lists at a time, and others read theirs", async () => {
  const { reads, list } = await withRevisions(["one"]);
  using stack = new DisposableStack();
  for (const _ of [1, 2]) stack.use(await reads.acquire("acme", never));
  const waiting = Array.from({ length: 20 }, () => list());
  await expect(list()).rejects.toMatchObject({ kind: "unavailable" });
  await expect(list({}, "globex")).rejects.toMatchObject(missing);
  stack.dispose();
  for (const { revisions } of await Promise.all(waiting)) expect(revisions).toEqual([1]);
});
