import { Role } from "@reeve/contracts/thread";
import { repairThread } from "@reeve/run/thread/repair-thread";
import { describe, expect, test } from "vitest";
import { kindsOf } from "../../../test/support/memory-ports.ts";
import { bytes, completedTurn, key, thread, withTurn } from "../../../test/support/stored-runs.ts";
import { listThreadMessages } from "../threads/list-thread-messages.ts";
import { deleteArtifactsOfThread } from "./delete-artifacts.ts";
import { deleteRun } from "./delete-run.ts";

const never = new AbortController().signal;

describe("deleting a turn of a thread", () => {
  const page = { pageSize: 0, pageToken: "" };

  test("keeps its messages in the conversation, although the turn was still open", async () => {
    const { ports, runId } = await withTurn();
    await deleteRun(ports, { ...key, run: runId }, never);
    const { items } = await listThreadMessages(ports, thread, page, never);
    expect(items).toMatchObject([
      { runId, role: Role.USER, text: "hello" },
      { runId, role: Role.ASSISTANT, text: "hi" },
    ]);
    await repairThread(ports, thread, never);
    expect(await kindsOf(ports.log, runId)).toEqual([]);
  });

  test("keeps its artifacts until the thread is deleted", async () => {
    const { ports, runId } = await withTurn();
    const draft = { name: "a", mediaType: "", runId };
    const { artifactId } = await ports.artifacts.put("acme", draft, bytes(), never);
    await deleteRun(ports, { ...key, run: runId }, never);
    expect(await ports.artifacts.get("acme", artifactId, never)).toBeDefined();
    await deleteArtifactsOfThread(ports, thread, never);
    expect(await ports.artifacts.get("acme", artifactId, never)).toBeUndefined();
  });

  test("starts a new run with the request that started it", async () => {
    const { ports, runId } = await withTurn();
    await deleteRun(ports, { ...key, run: runId }, never);
    expect(await completedTurn(ports)).toBe(runId);
    expect(await kindsOf(ports.log, runId)).toContain("runCreated");
  });
});
