import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import { graph } from "@reeve/engine/test/support/workflow/workflow-graph";
import { historyOf } from "@reeve/engine/test/support/workflow/workflow-run";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { outputOf } from "@reeve/run/head/run-of";
import { expect, test } from "vitest";
import type { Deployment } from "../support/deployment.ts";
import {
  approve,
  eventOf,
  eventWith,
  expectCompleted,
  started,
  watchToEnd,
} from "../support/watching.ts";

/** Writes a line to a file of the workspace, waits, and returns the lines of the file. */
const counting = (file: string) =>
  [
    "import time",
    `with open("${file}", "a") as lines: lines.write("ran ")`,
    "time.sleep(0.3)",
    `open("${file}").read()`,
  ].join("\n");

const inner = graph(
  {
    in: { type: "input" },
    ship: { type: "code", properties: { code: counting("ship") } },
    out: { type: "output" },
  },
  "in -> ship.text",
  "ship.result -> out",
);

const whole = graph(
  {
    in: { type: "input" },
    each: {
      type: "map",
      properties: {
        node_type: "tool:add_todo",
        item_input: "text",
        inputs: { items: ["a", "b", "c"] },
      },
    },
    talk: { type: "agent:killed-talk" },
    sum: { type: "code", properties: { code: counting("sum") } },
    ask: { type: "approval", properties: { question: "Ship it?" } },
    sub: { type: "workflow:killed-inner" },
    all: { type: "merge", properties: { mode: "object" } },
    out: { type: "output" },
  },
  "in -> each.$after",
  "in -> talk.prompt",
  "in -> sum.text",
  "each -> ask.$after",
  "sum.result -> ask.value",
  "ask.approved.value -> sub.input",
  "talk -> all",
  "sum.result -> all",
  "sub -> all",
  "all -> out",
);

/** Returns the history without the measured times of calls. */
const withoutTimes = (events: readonly RunEvent[]) =>
  historyOf(events).map((line) => line.replace(/"execution_time_ms":[\d.]+/, ""));

/** A workflow with branches, a map, an agent, code, an approval, and another workflow, whose runtime is killed in each part. */
export function describeKilledWorkflow(deployment: () => Deployment): void {
  async function startRun(): Promise<string> {
    const { runs } = deployment().reeve;
    return (await runs.startRun({ agentId: "killed", input: "go" })).run?.runId ?? "";
  }

  /** Resolves when a toolhost executes the code of a node. */
  async function codeRuns(runId: string, nodeId: string): Promise<void> {
    const { event } = await eventWith(deployment(), runId, ({ event: { case: kind, value } }) => {
      return kind === "toolCall" && value.nodeId === nodeId;
    });
    if (event.case === "toolCall") await started(deployment(), runId, event.value.callId);
  }

  // Requirement: WF-2, DUR-3, HITL-4
  test("in each part of a workflow, continues to an equal history, and runs no code twice", async () => {
    const services = deployment();
    const permissionClasses = ["execute"];
    const deepAgent = { allowedImports: fromJson(ListValueSchema, ["time"]) };
    const runsCode = { model: "", permissionClasses, deepAgent };
    await services.agent("killed-talk", { model: "scripted:talk" });
    await services.agent("killed-inner", { ...runsCode, workflow: inner });
    const delegates = ["killed-talk", "killed-inner"];
    await services.agent("killed", { ...runsCode, delegates, workflow: whole });

    const undisturbed = await startRun();
    await approve(services, undisturbed);
    const history = await watchToEnd(services, undisturbed);
    expectCompleted(history);

    const runId = await startRun();
    await codeRuns(runId, "sum");
    await services.kill("runtime");
    await services.start("runtime");
    await eventOf(services, runId, "runParked");
    await services.kill("runtime");
    await approve(services, runId);
    await services.start("runtime");
    await codeRuns(runId, "ship");
    await services.kill("runtime");
    await services.start("runtime");
    const events = await watchToEnd(services, runId);
    expectCompleted(events);
    expect(withoutTimes(events)).toEqual(withoutTimes(history));
    expect(JSON.parse(outputOf(foldHead(emptyHead, events)))).toMatchObject({
      sum: "ran ",
      sub: "ran ",
      talk: expect.stringContaining("the very end") as string,
    });
  });
}
