import type { MessageInitShape } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import type { Asked, Played } from "../../support/playing-server.ts";
import type { PlannedEffect, RunPlan } from "./run-plan.ts";
import { instructionsOf } from "./run-plan.ts";

/** An agent whose tools have effects inside and outside of the sandbox. */
export const workerAgent: MessageInitShape<typeof AgentSpecSchema> = {
  id: "worker",
  name: "worker",
  model: "openai:played",
  permissionClasses: ["execute", "network"],
  mcpServers: ["counter"],
  hitlTools: ["mcp__counter__pay"],
  deepAgent: { allowedImports: fromJson(ListValueSchema, ["time"]) },
  budgets: { maxLlmCalls: 500, maxWallClock: { seconds: 3_600n } },
};

const asks = /Carry out (?:turn (\d+) of )?plan (\d+)\./;

/** Plays the model of every run. Its answers depend on the plan and on the number of turns so far. */
export function playPlans(planAt: (index: number) => RunPlan): (asked: Asked) => Played {
  return ({ messages }) => {
    const last = messages.findLastIndex(({ role, text }) => role === "user" && asks.test(text));
    const [, turnOfSubtask, index] = asks.exec(messages[last]?.text ?? "") ?? [];
    const plan = planAt(Number(index));
    const had = messages.slice(last).filter(({ role }) => role === "assistant").length;
    const { paceMs } = plan;
    const number = turnOfSubtask === undefined ? had : Number(turnOfSubtask);
    const turn = plan.turns[number];
    const isOver = turn === undefined || (turnOfSubtask !== undefined && had > 0);
    if (isOver) return { text: plan.answer, paceMs };
    const { text } = turn;
    if (turn.isSubtask && turnOfSubtask === undefined) {
      const args = { title: `turn ${number}`, instructions: instructionsOf(plan.index, number) };
      return { text, paceMs, calls: [{ name: "run_subtask", args }] };
    }
    return { text, paceMs, calls: turn.effects.map((effect) => callOf(plan.index, effect)) };
  };
}

/** Returns the call of an effect's tool. */
export function callOf(index: number, { tag, kind, lastsMs }: PlannedEffect) {
  switch (kind) {
    case "code":
      return { name: "execute_code", args: { code: codeOf(tag, lastsMs) } };
    case "write":
      return { name: "write_file", args: { path: tag, content: tag } };
    case "charge":
    case "note":
    case "pay":
      return { name: `mcp__counter__${kind}`, args: { key: `${index}/${tag}`, lastsMs } };
  }
}

function codeOf(tag: string, lastsMs: number): string {
  const pause = `time.sleep(${lastsMs / 2_000})`;
  const mark = (what: string) => `open("${tag}", "a").write("${what}\\n")`;
  return ["import time", pause, mark("begun"), pause, mark("ended"), `print("${tag}")`].join("\n");
}

/** Returns the tag of the effect that a call has, from its arguments. */
export function tagOf(args: Readonly<Record<string, unknown>>): string {
  const { key, path, code } = args;
  if (typeof path === "string") return path;
  if (typeof key === "string") return key.split("/")[1] ?? "";
  return typeof code === "string" ? (/open\("(\w+)"/.exec(code)?.[1] ?? "") : "";
}
