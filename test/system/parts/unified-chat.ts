import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RunEvent, StartRunRequestSchema } from "@reeve/contracts/run";
import { ChatContextKind } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import type { Asked, Played } from "../../support/playing-server.ts";
import type { Deployment } from "../support/deployment.ts";
import { expectCompleted, watchToEnd } from "../support/watching.ts";

const nodes = [
  { id: "in", type: "input" },
  { id: "out", type: "output" },
];
const edges = [{ source: "in", target: "out" }];

const resultsOf = ({ messages }: Asked) =>
  messages.filter(({ role }) => role === "tool").map(({ text }) => text);

/** Plays a model that is chatted with: it answers, starts two subtasks at once, or has a workflow built. Undefined: it is no such chat. */
export function playChat(asked: Asked): Played | undefined {
  const input = asked.messages[0]?.text ?? "";
  const results = resultsOf(asked);
  const goOn = (played: Played): Played =>
    results.length > 0 ? { text: `I have: ${results.join(" / ")}` } : played;
  switch (input) {
    case "what is 2+2?":
      return { text: "4" };
    case "compare":
      return goOn({
        calls: ["tea", "coffee"].map((title) => ({
          name: "run_subtask",
          args: { title, instructions: `describe ${title}` },
        })),
      });
    case "draw a workflow":
      return goOn({ calls: [{ name: "build_workflow", args: { objective: "repeat the input" } }] });
    default:
      if (input.startsWith("describe")) return { text: `${input} done` };
      return input.includes("repeat the input")
        ? { calls: [{ name: "finish_subtask", args: { nodes, edges } }] }
        : undefined;
  }
}

type Sent = Omit<MessageInitShape<typeof StartRunRequestSchema>, "$typeName">;

/** The kinds of all events but text, whose parts differ from run to run. */
const kindsOf = (events: readonly RunEvent[]): readonly string[] =>
  events.flatMap(({ event: { case: kind = "" } }) => (kind === "text" ? [] : [kind]));
const callsOf = (events: readonly RunEvent[]) =>
  events.flatMap(({ event }) => (event.case === "toolResult" ? [event.value] : []));

/** The chats of the unified loop, each from its request to its stored tree, with the agent `chat` of the deployment. */
export function describeUnifiedChat(deployment: () => Deployment): void {
  async function chats(input: string, more: Sent = {}) {
    const { runs } = deployment().reeve;
    const { run, warnings } = await runs.startRun({ agentId: "chat", input, ...more });
    const runId = run?.runId ?? "";
    const events = await watchToEnd(deployment(), runId);
    expectCompleted(events);
    const { run: ended } = await runs.getRun({ runId });
    const { tree } = await runs.getExecutionTree({ runId });
    return { events, warnings, ended, nodes: tree?.nodes ?? [] };
  }

  // Requirement: LOOP-1, CHAT-1
  test("a trivial question is answered in one turn, without a subtask", async () => {
    const { events, ended, nodes: stored } = await chats("what is 2+2?");
    expect(ended).toMatchObject({ output: "4", cost: { llmCalls: 1, subtasks: 0 } });
    expect(kindsOf(events)).not.toContain("subtask");
    expect(stored).toEqual([]);
  });

  // Requirement: LOOP-1, LOOP-2, SUB-11, CHAT-4
  test("subtasks of one turn run together, and their results and cards are kept", async () => {
    const { events, ended, nodes: stored } = await chats("compare");
    const kinds = kindsOf(events);
    expect(kinds.filter((kind) => kind === "subtask")).toHaveLength(4);
    expect(kinds.lastIndexOf("toolCall")).toBeLessThan(kinds.indexOf("toolResult"));
    expect(ended?.output).toBe("I have: describe tea done / describe coffee done");
    expect(stored).toMatchObject(
      ["tea", "coffee"].map((title) => ({
        name: "run_subtask",
        parentId: "",
        title,
        resultPreview: `describe ${title} done`,
      })),
    );
  });

  // Requirement: CHAT-2, PERM-4, WF-1
  test("an editor has workflows built, and a thread has no tool for it", async () => {
    const chatContext = { kind: ChatContextKind.EDITOR, workflowId: "w1" };
    const editor = await chats("draw a workflow", { chatContext });
    const built = callsOf(editor.events).find(({ result }) => result?.name === "build_workflow");
    expect(built).toMatchObject({ success: true, result: { structured: { nodes, edges } } });
    const thread = await chats("draw a workflow", {
      chatContext: { kind: ChatContextKind.THREAD },
    });
    expect(callsOf(thread.events)).toMatchObject([
      { success: false, error: expect.stringContaining(`there is no tool "build_workflow"`) },
    ]);
  });

  // Requirement: CHAT-1, CHAT-2
  test("an old client, without a context or with agent_mode, gets what every thread gets", async () => {
    const thread = await chats("compare", { chatContext: { kind: ChatContextKind.THREAD } });
    const old = await chats("compare");
    const planning = await chats("compare", { agentMode: true });
    expect(planning.warnings).toEqual([expect.stringContaining("agent_mode: deprecated")]);
    for (const { events, ended } of [old, planning]) {
      expect(kindsOf(events).toSorted()).toEqual(kindsOf(thread.events).toSorted());
      expect(ended?.output).toBe(thread.ended?.output);
    }
  });
}
