import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import type { Asked, Played } from "../../support/playing-server.ts";
import type { People, Scenario } from "./backend.ts";
import { incompleteScenarios } from "./incomplete-scenarios.ts";
import { pluginScenarios } from "./plugin-scenarios.ts";
import { peopleScenarios } from "./people-scenarios.ts";
import { call, inputOf, isPending, once, turnsOf } from "./played.ts";
import { workflowScenarios } from "./workflow-scenarios.ts";

const delegating = (asked: Asked): Played => {
  if (inputOf(asked).startsWith("part")) return { text: `The ${inputOf(asked)} is done.` };
  return turnsOf(asked) === 0
    ? {
        calls: ["a", "b"].map((part) => ({
          name: "run_subtask",
          args: { title: part, instructions: `part ${part}` },
        })),
      }
    : { text: "Both are done." };
};

const askingAgent = (asked: Asked): Played => {
  if (asked.system.includes("You find things.")) {
    return once(call("memory_write", { key: "found", value: "7" }))(asked);
  }
  return once(call("agent_run_finder", { prompt: "find it" }))(asked);
};

const schema = {
  type: "object",
  properties: { count: { type: "integer" } },
  required: ["count"],
};

const withSchema = (asked: Asked): Played => {
  if (!inputOf(asked).startsWith("count")) {
    return once(
      call("run_subtask", { title: "c", instructions: "count it", output_schema: schema }),
    )(asked);
  }
  switch (turnsOf(asked)) {
    case 0:
      return { text: "It is seven." };
    case 1:
      return call("finish_subtask", { count: "seven" });
    default:
      return call("finish_subtask", { count: 7 });
  }
};

const planning = (asked: Asked): Played => {
  if (asked.system.includes("Before the work")) return { text: "1. look\n2. answer" };
  return { text: `I follow ${asked.messages[0]?.text.includes("1. look") ? "the plan" : "none"}.` };
};

const growing = (asked: Asked): Played => {
  if (asked.system.includes("older part of a conversation")) return { text: "It was long." };
  if (asked.messages.some(({ text }) => text.includes("It was long."))) return { text: "Done." };
  const turns = turnsOf(asked);
  const text = `todo ${turns} ${"of many ".repeat(100)}`;
  return { ...call("add_todo", { text }), inputTokens: 3_000 + 3_000 * turns };
};

const cancelAt =
  (kind: RunEvent["event"]["case"]): NonNullable<Scenario["act"]> =>
  (event, people) =>
    event.event.case === kind ? people.cancel() : undefined;

async function sendAll({ send }: People): Promise<void> {
  for (const text of ["first", "second", "third"]) await send(text);
}

/** The scenarios, with the same visible events on every backend. */
export const scenarios: readonly Scenario[] = [
  { name: "text", play: () => ({ text: "Hello there." }) },
  { name: "reasoning", play: () => ({ reasoning: "They greet me.", text: "Hello there." }) },
  { name: "tool", play: once(call("memory_write", { key: "k", value: "v" })) },
  {
    name: "delegate",
    spec: { delegates: ["finder"], allowedToolPatterns: fromJson(ListValueSchema, ["agent_*"]) },
    agents: [{ id: "finder", instructions: "You find things." }],
    play: askingAgent,
  },
  {
    name: "parallel tools",
    play: once({
      text: "At once.",
      calls: [
        { name: "add_todo", args: { text: "one" } },
        { name: "nothing", args: {} },
        { name: "add_todo", args: { text: 2 } },
        { name: "list_todos", args: {} },
      ],
    }),
  },
  {
    name: "progress",
    spec: { mcpServers: ["srv"] },
    play: once(call("mcp__srv__search", { q: "x" })),
  },
  {
    name: "progress switched off",
    spec: { mcpServers: ["srv"], emitMcpProgress: false },
    play: once(call("mcp__srv__search", { q: "x" })),
  },
  { name: "subtasks", play: delegating },
  { name: "subtask with a schema", play: withSchema },
  { name: "planner", spec: { planningEnabled: true }, play: planning },
  {
    name: "planner that fails",
    spec: { planningEnabled: true },
    play: (asked) =>
      asked.system.includes("Before the work")
        ? { fails: { status: 400, message: "no" } }
        : { text: "Without." },
  },
  {
    name: "compaction",
    spec: { contextPolicy: { compactAtTokens: 5_000 } },
    play: growing,
  },
  {
    name: "approved",
    spec: { hitlTools: ["add_todo"] },
    play: once(call("add_todo", { text: "x" })),
    act: (event, people) =>
      isPending(event) ? people.decide(event, { approved: true }) : undefined,
  },
  {
    name: "rejected",
    spec: { hitlTools: ["add_todo"] },
    play: once(call("add_todo", { text: "x" })),
    act: (event, people) =>
      isPending(event) ? people.decide(event, { approved: false }) : undefined,
  },
  {
    name: "approval that expires",
    spec: { hitlTools: ["add_todo"], approvalPolicy: { timeout: { nanos: 50_000_000 } } },
    play: once(call("add_todo", { text: "x" })),
  },
  ...peopleScenarios,
  ...incompleteScenarios,
  ...workflowScenarios,
  {
    name: "budget stop",
    spec: { budgets: { maxToolCalls: 1 } },
    play: () => ({
      text: "Two.",
      calls: ["a", "b"].map((text) => ({ name: "add_todo", args: { text } })),
    }),
  },
  { name: "iteration limit", spec: { maxRounds: 2 }, play: () => call("list_todos") },
  {
    name: "provider failure",
    play: () => ({ fails: { status: 401, message: "who are you" } }),
  },
  {
    name: "provider that fails at first",
    play: (_, before) =>
      before === 0
        ? { fails: { status: 503, message: "not yet", retryAfterMs: 1 } }
        : { text: "Now I can." },
  },
  {
    name: "answer that breaks off",
    play: (_, before) =>
      before === 0 ? { text: "I begin and", breaks: true } : { text: "I am whole." },
  },
  {
    name: "cancelled before its model speaks",
    play: () => ({ hangs: true }),
    act: cancelAt("step"),
  },
  {
    name: "cancelled while its model thinks",
    play: () => ({ reasoning: "I wonder", hangs: true }),
    act: cancelAt("reasoning"),
  },
  {
    name: "cancelled while its subtask waits to ask its model again",
    play: (asked) => {
      if (inputOf(asked) === "part a")
        return { fails: { status: 503, message: "later", retryAfterMs: 60_000 } };
      return delegating(asked);
    },
    act: ({ event }, people) =>
      event.case === "subtask" && event.value.ended ? people.cancel() : undefined,
  },
  {
    name: "cancelled while its subtask uses a tool",
    spec: { mcpServers: ["srv"] },
    play: (asked) =>
      inputOf(asked).startsWith("part")
        ? call("mcp__srv__hang", { q: "x" })
        : call("run_subtask", { title: "a", instructions: "part a" }),
    act: cancelAt("mcpProgress"),
  },
  {
    name: "cancelled while it plans",
    spec: { planningEnabled: true },
    play: () => ({ text: "1. look", hangs: true }),
    act: cancelAt("text"),
  },
  {
    name: "cancelled while its conversation is summed up",
    spec: { contextPolicy: { compactAtTokens: 5_000 } },
    play: (asked) =>
      asked.system.includes("older part of a conversation")
        ? { text: "It was", hangs: true }
        : growing(asked),
    act: ({ event, stepNumber }, people) =>
      event.case === "step" && stepNumber === 3 ? people.cancel() : undefined,
  },
  {
    name: "cancelled while its model speaks",
    play: () => ({ text: "I go on", hangs: true }),
    act: cancelAt("text"),
  },
  {
    name: "cancelled while its tool works",
    spec: { mcpServers: ["srv"] },
    play: () => call("mcp__srv__hang", { q: "x" }),
    act: cancelAt("mcpProgress"),
  },
  {
    name: "cancelled while it waits for a person",
    spec: { hitlTools: ["add_todo"] },
    play: () => call("add_todo", { text: "x" }),
    act: cancelAt("approval"),
  },
  {
    name: "cancelled while its subtask speaks",
    play: (asked) =>
      inputOf(asked).startsWith("part")
        ? { text: "I go on", hangs: true }
        : call("run_subtask", { title: "a", instructions: "part a" }),
    act: cancelAt("text"),
  },
  {
    name: "message into the run",
    spec: { hitlTools: ["add_todo"] },
    play: (asked) =>
      turnsOf(asked) === 0
        ? call("add_todo", { text: "x" })
        : { text: `You said: ${asked.messages.at(-1)?.text}` },
    act: (event, people) =>
      isPending(event)
        ? people.send("and hurry").then(() => people.decide(event, { approved: true }))
        : undefined,
  },
  {
    name: "messages that wait for the next step",
    spec: { hitlTools: ["add_todo"] },
    play: (asked) =>
      turnsOf(asked) === 0
        ? call("add_todo", { text: "x" })
        : {
            text: `You said: ${asked.messages
              .slice(-3)
              .map(({ text }) => text)
              .join(", ")}`,
          },
    act: (event, people) =>
      isPending(event)
        ? sendAll(people).then(() => people.decide(event, { approved: true }))
        : undefined,
  },
  ...pluginScenarios,
];
