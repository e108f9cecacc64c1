import { setTimeout } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import { ApprovalState } from "@reeve/contracts/approval";
import type { Run, RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { PermissionClass, ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { Tool } from "@reeve/calls/ports/tool";
import { parseScript } from "@reeve/models/scripted/script";
import { scriptedProvider } from "@reeve/models/scripted/scripted-provider";
import { onAbort } from "@reeve/platform/async/on-abort";
import { expect, test } from "vitest";
import type { Decide, LocalDecision } from "./decide-approvals.ts";
import { runAgent } from "./run-agent.ts";

const never = new AbortController().signal;
const day = 86_400n;
const soup: LocalDecision = { approved: true, answer: { dish: "soup" } };

/** A tool that asks which dish a person wants. */
const order: Tool = {
  descriptor: create(ToolDescriptorSchema, {
    name: "order",
    permissionClass: PermissionClass.NETWORK,
    source: "mcp:shop",
    inputSchema: { type: "object", properties: { table: { type: "integer" } } },
  }),
  async call({ ask, args }) {
    const schema = {
      type: "object",
      properties: { dish: { type: "string" } },
      required: ["dish"],
    };
    const answer = await ask({ message: "Which dish?", schema, askedBy: "mcp:shop" });
    const said = answer.kind === "accepted" ? JSON.stringify(answer.content) : answer.kind;
    return { content: `${said} at ${JSON.stringify(args)}`, isError: false };
  },
};

/** Runs an agent that calls the tool once, and returns the ended run with its events. */
async function ordering(
  spec: MessageInitShape<typeof AgentSpecSchema>,
  decide?: Decide,
  signal = never,
): Promise<{ ended: Run; events: readonly RunEvent[]; result: string | undefined }> {
  const script = `turns: [{ tool_calls: [{ name: order, arguments: { table: 1 } }] }, { text: Done. }]`;
  const run = runAgent(
    { id: "a", name: "a", model: "scripted:s", mcpServers: ["shop"], ...spec },
    "go",
    {
      providers: [scriptedProvider([parseScript(script, "s.yaml")])],
      tools: [order],
      signal,
      ...(decide && { decide }),
    },
  );
  const events: RunEvent[] = [];
  for await (const event of run.events()) events.push(event);
  const results = events.flatMap(({ event }) =>
    event.case === "toolResult" ? [event.value.result?.content] : [],
  );
  return { ended: await run.ended, events, result: results[0] };
}

const states = (events: readonly RunEvent[]) =>
  events.flatMap(({ event }) => (event.case === "approval" ? [event.value.approval?.state] : []));

test("a question is declined at once when nobody can answer it", async () => {
  const { ended, result, events } = await ordering({});
  expect(ended.status).toBe(RunStatus.COMPLETED);
  expect(result).toBe(`declined at {"table":1}`);
  expect(states(events)).toEqual([ApprovalState.PENDING, ApprovalState.REJECTED]);
});

test("an answer reaches the tool that asked", async () => {
  const { result } = await ordering({}, async () => ({ approved: true, answer: { dish: "soup" } }));
  expect(result).toBe(`{"dish":"soup"} at {"table":1}`);
});

test("an answer that does not fit its schema is a rejection with the reason", async () => {
  const { result, events } = await ordering({}, async () => ({
    approved: true,
    answer: { dish: 7 },
  }));
  expect(result).toContain("declined");
  const decided = events.findLast(({ event }) => event.case === "approval")?.event.value;
  expect(decided).toMatchObject({
    approval: { decision: { reason: expect.stringContaining("must be string") } },
  });
});

test("edited arguments are those of the call if the agent permits them", async () => {
  const policy = { hitlTools: ["order"], approvalPolicy: { allowEditedArguments: true } };
  const { result } = await ordering(policy, async ({ question }) =>
    question === undefined
      ? { approved: true, editedArguments: { table: 2 } }
      : { approved: true, answer: { dish: "soup" } },
  );
  expect(result).toBe(`{"dish":"soup"} at {"table":2}`);
});

test.each([
  ["are not permitted", {}, { table: 2 }, "does not permit edited arguments"],
  [
    "do not fit the tool",
    { approvalPolicy: { allowEditedArguments: true } },
    { table: "x" },
    "must be integer",
  ],
])("edited arguments that %s are a rejection with the reason", async (_, policy, edited, why) => {
  const spec = { hitlTools: ["order"], ...policy };
  const { result } = await ordering(spec, async () => ({
    approved: true,
    editedArguments: edited,
  }));
  expect(result).toMatch(/^a person rejected this call: /);
  expect(result).toContain(why);
});

test("a decision that throws is a rejection with the reason", async () => {
  const { result } = await ordering({ hitlTools: ["order"] }, () => {
    throw new Error("the terminal is closed");
  });
  expect(result).toBe("a person rejected this call: the terminal is closed");
});

test("a decision that no client could send is a rejection with the reason", async () => {
  const decided: object = {
    approved: true,
    editedArgument: { table: 2 },
    reason: "x".repeat(5_000),
  };
  const { result, events } = await ordering({ hitlTools: ["order"] }, async () => ({
    approved: true,
    ...decided,
  }));
  expect(result).toMatch(/^a person rejected this call: the request is not valid: /);
  expect(result).toContain("editedArgument: unknown field; did you mean editedArguments?");
  expect(result).toContain("reason: must be at most 4096 bytes");
  expect(states(events)).toEqual([ApprovalState.PENDING, ApprovalState.REJECTED]);
});

test("the reason of a rejection has a bounded size, however long the error is", async () => {
  const { result } = await ordering({ hitlTools: ["order"] }, () => {
    throw new Error("x".repeat(100_000));
  });
  expect(Buffer.byteLength(result ?? "")).toBeLessThan(4_200);
});

test("a question is declined when its decision throws", async () => {
  const { result } = await ordering({}, () => {
    throw new Error("the terminal is closed");
  });
  expect(result).toBe(`declined at {"table":1}`);
});

test("a person who is being asked is not interrupted by the advice of a model", async () => {
  const script = `turns: [{ tool_calls: [{ name: order, arguments: {} }] }, { text: Done. }]`;
  const reviewed = Promise.withResolvers<void>();
  const asked: boolean[] = [];
  const spec = { hitlTools: ["order"], approvalPolicy: { reviewer: { rubric: "too much?" } } };
  const run = runAgent(
    { id: "a", name: "a", model: "scripted:s", mcpServers: ["shop"], ...spec },
    "go",
    {
      providers: [scriptedProvider([parseScript(script, "s.yaml")])],
      tools: [order],
      signal: never,
      decide: async ({ question }, signal) => {
        if (question) return soup;
        await reviewed.promise;
        // What follows the advice has happened then.
        await setTimeout(20);
        asked.push(signal.aborted);
        return { approved: true };
      },
    },
  );
  for await (const { event } of run.events()) {
    if (event.case === "approval" && event.value.approval?.review) reviewed.resolve();
  }
  expect(asked).toEqual([false]);
  expect((await run.ended).status).toBe(RunStatus.COMPLETED);
});

test("an approval that expires aborts the signal of its decision", async () => {
  const aborted = Promise.withResolvers<void>();
  const spec = { hitlTools: ["order"], approvalPolicy: { timeout: { nanos: 20_000_000 } } };
  const { result } = await ordering(spec, async (_, signal) => {
    onAbort(signal, aborted.resolve);
    return await new Promise<never>(() => undefined);
  });
  await aborted.promise;
  expect(result).toBe("nobody approved this call in time");
});

test("the end of a run aborts the signals of its decisions", async () => {
  const aborted = Promise.withResolvers<void>();
  const end = new AbortController();
  const { ended } = await ordering(
    { hitlTools: ["order"] },
    async (_, signal) => {
      onAbort(signal, aborted.resolve);
      end.abort();
      return await new Promise<never>(() => undefined);
    },
    end.signal,
  );
  await aborted.promise;
  expect(ended.status).toBe(RunStatus.CANCELLED);
});

test("an approval with a timeout of two months does not expire at once", async () => {
  const spec = { hitlTools: ["order"], approvalPolicy: { timeout: { seconds: 60n * day } } };
  const { events } = await ordering(spec, async ({ question }) => {
    // A timer that cannot hold the delay would fire before this one.
    await setTimeout(5);
    return { approved: true, ...(question && { answer: { dish: "soup" } }) };
  });
  expect(states(events)).not.toContain(ApprovalState.TIMED_OUT);
});

test("a person who rejects again and again with other reasons does not end the run", async () => {
  let asked = 0;
  const undecided: Decide = async () => ({ approved: false, reason: `because ${++asked}` });
  const policy = { alternatives: [{ people: ["local", "other"], approvals: 1, denials: 2 }] };
  const spec = { hitlTools: ["order"], approvalPolicy: policy };
  const { ended, events } = await ordering(spec, undecided);
  expect(ended.status).toBe(RunStatus.COMPLETED);
  expect(asked).toBe(6);
  expect(states(events).at(-1)).toBe(ApprovalState.TIMED_OUT);
});

/** Decides on the call, and answers the question. */
function asking(decision: LocalDecision): Decide {
  return async ({ question }) => (question ? soup : decision);
}

test("the agent's policy may exclude who wrote it, which is the default person", async () => {
  const spec = { hitlTools: ["order"], approvalPolicy: { excludeAuthor: true } };
  const own = await ordering(spec, asking({ approved: true }));
  expect(own.result).toBe("nobody approved this call in time");
  const other = await ordering(spec, asking({ approved: true, by: { subject: "ann" } }));
  expect(other.result).toContain("soup");
});

test("an approval that comes before its wait has ended takes effect at its end", async () => {
  const waits = [{ wait: { nanos: 30_000_000 } }];
  const spec = { hitlTools: ["order"], approvalPolicy: { waits } };
  const { events, result } = await ordering(spec, asking({ approved: true }));
  expect(result).toContain("soup");
  const decided = events.flatMap(({ event }) =>
    event.case === "approval" && event.value.approval?.decision ? [event.value.approval] : [],
  );
  const [{ decision, decidableAfter } = {}] = decided;
  if (decision?.decidedAt === undefined || decidableAfter === undefined) throw new Error("no time");
  expect(timestampMs(decision.decidedAt)).toBeGreaterThanOrEqual(timestampMs(decidableAfter));
});
