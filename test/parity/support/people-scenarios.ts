import { writeFile } from "node:fs/promises";
import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Decided, Scenario } from "./backend.ts";
import { patienceEnds } from "./backend.ts";
import type { Asked, Played } from "../../support/playing-server.ts";
import { call, inputOf, isPending, once, turnsOf } from "./played.ts";

const deciding =
  (decision: Decided): NonNullable<Scenario["act"]> =>
  (event, people) =>
    isPending(event) ? people.decide(event, decision) : undefined;

const asking: Pick<Scenario, "play"> & { readonly spec: { readonly mcpServers: string[] } } = {
  spec: { mcpServers: ["ask"] },
  play: once(call("mcp__ask__order")),
};

const asksInSubtask = (asked: Asked): Played => {
  if (turnsOf(asked) > 0) return { text: "Soup for two." };
  if (inputOf(asked).includes("find out the order")) {
    const answer_schema = {
      type: "object",
      properties: { dish: { type: "string" }, guests: { type: "integer" } },
      required: ["dish", "guests"],
    };
    return call("ask_user", { question: "What, and for how many?", answer_schema });
  }
  return call("run_subtask", { title: "order", instructions: "find out the order" });
};

/** Scenarios in which people edit arguments and answer questions of tools, or nobody does. */
export const peopleScenarios: readonly Scenario[] = [
  {
    name: "approved with edited arguments",
    spec: { hitlTools: ["add_todo"], approvalPolicy: { allowEditedArguments: true } },
    play: once(call("add_todo", { text: "x" })),
    act: deciding({ approved: true, editedArguments: { text: "y" } }),
  },
  {
    name: "permission rules",
    spec: {
      sections: {
        permission: fromJson(ValueSchema, {
          default_behavior: "allow",
          rules: [
            { tool: "add_todo(buy*)", behavior: "deny" },
            { tool: 'add_todo(text =~ "^sell")', behavior: "ask" },
            { tool: "complete_todo", behavior: "deny" },
          ],
        }),
      },
    },
    play: once({
      text: "Three.",
      calls: ["buy", "sell", "keep"].map((text) => ({ name: "add_todo", args: { text } })),
    }),
    act: deciding({ approved: true }),
  },
  {
    name: "question that is answered",
    ...asking,
    act: deciding({ approved: true, answer: { dish: "soup" } }),
  },
  { name: "question that is declined", ...asking, act: deciding({ approved: false }) },
  {
    name: "question that expires",
    ...asking,
    spec: { ...asking.spec, approvalPolicy: { timeout: { nanos: 50_000_000 } } },
  },
  {
    name: "question that its tool withdraws",
    spec: { mcpServers: ["rush"] },
    play: once(call("mcp__rush__guess")),
    act: (event) => (isPending(event) ? writeFile(patienceEnds, "") : undefined),
  },
  {
    name: "question of the agent that is answered",
    spec: { questions: {} },
    play: once(call("ask_user", { question: "Which dish?", choices: ["soup", "salad"] })),
    act: deciding({ approved: true, answer: { answer: "soup" } }),
  },
  {
    name: "question of the agent that is declined",
    spec: { questions: {} },
    play: once(call("ask_user", { question: "Which dish?" })),
    act: deciding({ approved: false }),
  },
  {
    name: "question of the agent that expires",
    spec: { questions: { timeout: { nanos: 50_000_000 } } },
    play: once(call("ask_user", { question: "Which dish?" })),
  },
  {
    name: "question of a subtask",
    spec: { questions: {} },
    play: asksInSubtask,
    act: deciding({ approved: true, answer: { dish: "soup", guests: 2 } }),
  },
  {
    name: "cancelled while the agent asks",
    spec: { questions: {} },
    play: once(call("ask_user", { question: "Which dish?" })),
    act: (event, people) => (isPending(event) ? people.cancel() : undefined),
  },
  {
    name: "cancelled while its tool asks",
    ...asking,
    act: (event, people) => (isPending(event) ? people.cancel() : undefined),
  },
];
