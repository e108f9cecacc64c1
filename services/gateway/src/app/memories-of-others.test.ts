import { create, toJson } from "@bufbuild/protobuf";
import { RunCreatedSchema, RunEventSchema } from "@reeve/contracts/run";
import { ExecutionTreeSchema } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/jetstream/log/port";
import { expect, test } from "vitest";
import { memoryPorts } from "../../test/support/memory-ports.ts";
import { assertOwnMemories, MemoryGuard, treeWithoutMemories } from "./memories-of-others.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_1" };
const created = { memoryEnabled: true, startedBy: "ann" };

const prepared = create(RunEventSchema, {
  event: { case: "runPrepared", value: { recalled: ["she plays the cello"] } },
});
const call = create(RunEventSchema, {
  event: { case: "toolCall", value: { name: "remember", arguments: { text: "a fact" } } },
});
const other = create(RunEventSchema, {
  event: { case: "toolCall", value: { name: "search", arguments: { q: "x" } } },
});

/** Returns a guard over a log that starts with a run. */
async function guardOf(viewer: string, start: typeof created | undefined = created) {
  const { log, logParts } = memoryPorts();
  if (start !== undefined) {
    const event = { case: "runCreated", value: start } as const;
    await log.append(key, emptyTail, [create(RunEventSchema, { sequence: 1, event })], never);
  }
  return new MemoryGuard(logParts, key, viewer);
}

test("the user of a run sees its memories, and nobody else does", async () => {
  const events = [prepared, call, other];
  expect(await (await guardOf("ann")).shown(events, never)).toEqual(events);
  const [first, second, third] = await (await guardOf("bob")).shown(events, never);
  expect(first?.event).toMatchObject({ case: "runPrepared", value: { recalled: [] } });
  expect(second?.event).toMatchObject({ case: "toolCall", value: { name: "remember" } });
  expect(second?.event.value).not.toHaveProperty("arguments");
  expect(third).toEqual(other);
  // The events belong to the log.
  expect(prepared.event).toMatchObject({ value: { recalled: ["she plays the cello"] } });
});

test("no field of a call of a memory tool, or of its result, shows others a memory", async () => {
  const text = "she plays the cello";
  const args = { text };
  const events = [
    create(RunEventSchema, {
      event: {
        case: "toolCall",
        value: { name: "remember", arguments: args, rawArguments: text, injectedArgs: args },
      },
    }),
    create(RunEventSchema, {
      event: {
        case: "toolResult",
        value: {
          error: text,
          result: {
            name: "remember",
            content: text,
            isError: true,
            structured: args,
            metadata: {
              approvalId: "apr_1",
              injectedArgs: args,
              editedArguments: text,
              permission: { rule: `remember(${text})` },
            },
          },
        },
      },
    }),
    create(RunEventSchema, {
      event: {
        case: "pluginHookFinished",
        value: {
          answer: { verdict: { case: "rewrite", value: { arguments: args } } },
          error: text,
          guards: [{ guard: "tone", reason: text, problem: text }],
        },
      },
    }),
  ];
  const shown = await (await guardOf("bob")).shown(events, never);
  expect(shown.map((each) => JSON.stringify(toJson(RunEventSchema, each))).join()).not.toContain(
    text,
  );
  // What does not show a memory stays.
  const metadata = { approvalId: "apr_1" };
  const withheld = "[a memory of another user]";
  expect(shown[1]?.event).toMatchObject({
    value: { error: withheld, result: { content: withheld, isError: true, metadata } },
  });
});

test("a run without memory is shown as it is, and a log without a start is not", async () => {
  const withoutMemory = { ...created, memoryEnabled: false };
  expect(await (await guardOf("bob", withoutMemory)).shown([prepared], never)).toEqual([prepared]);
  const lost = new MemoryGuard(memoryPorts().logParts, key, "bob");
  const [shown] = await lost.shown([prepared], never);
  expect(shown?.event).toMatchObject({ value: { recalled: [] } });
});

test("nobody sees the memories in a history of an earlier version, whose users are unknown", async () => {
  const result = { providerCallId: "p", name: "recall", content: "she plays the cello" };
  const history = [{ message: { case: "toolResult", value: result } } as const];
  const withHistory = create(RunEventSchema, {
    event: { case: "runPrepared", value: { recalled: ["hers"], history } },
  });
  const withoutMemory = { ...created, memoryEnabled: false };
  for (const [viewer, start] of [
    ["ann", created],
    ["ann", withoutMemory],
    ["bob", withoutMemory],
  ] as const) {
    const [shown] = await (await guardOf(viewer, start)).shown([withHistory], never);
    expect(shown?.event).toMatchObject({
      value: {
        recalled: ["hers"],
        history: [
          { message: { value: { name: "recall", content: expect.stringContaining("not kept") } } },
        ],
      },
    });
  }
  expect(withHistory.event).toMatchObject({ value: { history } });
});

test("a tree shows that a memory tool was called, but not with what", () => {
  const nodes = ["recall", "search"].map((name) => ({
    name,
    argsPreview: "q",
    resultPreview: "r",
  }));
  const tree = treeWithoutMemories(create(ExecutionTreeSchema, { nodes }));
  expect(tree.nodes).toMatchObject([
    { name: "recall", argsPreview: "", resultPreview: "[a memory of another user]" },
    { name: "search", argsPreview: "q", resultPreview: "r" },
  ]);
});

test("what contains the memories of a user is refused to others", () => {
  const run = { runId: "run_1", created: create(RunCreatedSchema, created) };
  expect(() => assertOwnMemories(run, "ann", "retry it")).not.toThrow();
  expect(() => assertOwnMemories({ runId: "run_1" }, "bob", "retry it")).not.toThrow();
  expect(() => assertOwnMemories(run, "bob", "retry it")).toThrow(
    /run run_1 has the memories of its user, ann; nobody else may retry it/,
  );
});
