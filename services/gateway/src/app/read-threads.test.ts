import { create, toBinary } from "@bufbuild/protobuf";
import { ListThreadMessagesResponseSchema, ThreadEventSchema } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/jetstream/log/port";
import { expect, test } from "vitest";
import { memoryPorts } from "../../test/support/memory-ports.ts";
import { listThreadMessages } from "./read-threads.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", thread: "x" };

/** A thread of 50 turns, each with a hundred tool calls. */
async function longThread() {
  const ports = memoryPorts();
  const preview = "a".repeat(500);
  let tail = emptyTail;
  for (let turn = 0; turn < 50; turn++) {
    const runId = `run_${String(turn).padStart(10, "0")}`;
    const nodes = Array.from({ length: 100 }, (_, call) => ({
      id: `${runId}-${call}`,
      name: "grep",
      argsPreview: preview,
      resultPreview: preview,
    }));
    const messages = [{ message: { case: "user", value: { text: "go" } } } as const];
    const executionTree = { version: 1, nodes };
    const facts = [
      { case: "turnQueued", value: { runId } },
      { case: "turnStarted", value: { runId } },
      { case: "turnEnded", value: { runId, outcome: 1, output: "done", messages, executionTree } },
    ] as const;
    const events = facts.map((event, index) =>
      create(ThreadEventSchema, { sequence: tail.sequence + 1 + index, event }),
    );
    const outcome = await ports.threads.append(key, tail, events, never);
    if (outcome.kind === "appended") ({ tail } = outcome);
  }
  return ports;
}

test("pages of long messages stay below the message limit of clients, and have each message once", async () => {
  const ports = await longThread();
  const runs: string[] = [];
  let pageToken = "";
  do {
    const page = await listThreadMessages(ports, key, { pageSize: 0, pageToken }, never);
    const response = { messages: [...page.items], nextPageToken: page.nextPageToken };
    const bytes = toBinary(
      ListThreadMessagesResponseSchema,
      create(ListThreadMessagesResponseSchema, response),
    ).length;
    expect(bytes).toBeLessThan(1.1 * 1024 * 1024);
    runs.push(...page.items.map(({ runId }) => runId));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(new Set(runs).size).toBe(50);
  expect(runs).toHaveLength(100);
});
