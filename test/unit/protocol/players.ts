import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import type { ToolCatalog } from "@reeve/contracts/tool";
import { PermissionClass, ToolCatalogSchema, ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { Clock } from "@reeve/platform/async/clock";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import type { Tool } from "@reeve/calls/ports/tool";
import type { Play } from "./play.ts";
import type { Rules } from "./rules.ts";
import type { Actor, Scheduler } from "./scheduler.ts";

/** Made once: compiling a schema takes longer than a whole world. */
const catalogs = { plain: catalogOf(false), idempotent: catalogOf(true) };

function catalogOf(idempotent: boolean): ToolCatalog {
  const tool = {
    name: "count",
    permissionClass: PermissionClass.SAFE,
    source: "builtin",
    inputSchema: { type: "object" },
    idempotent,
  };
  return create(ToolCatalogSchema, { isolation: "none", pool: "default", tools: [tool] });
}

export function catalogFor({ tool }: Play): ToolCatalog {
  return catalogs[tool === "idempotent" ? "idempotent" : "plain"];
}

/** A model that calls the tool once, if the play has one, and then answers. */
export function scriptedModel(scheduler: Scheduler, actor: Actor, play: Play): ModelProvider {
  const calls = [{ providerCallId: "p", name: "count", argumentsText: "{}" }];
  return {
    descriptor: create(ProviderDescriptorSchema, { name: "test" }),
    format: "test",
    async *stream({ messages }, signal) {
      const isFirst = !messages.some(({ role }) => role === "verbatim");
      const made = isFirst && play.tool !== undefined ? calls : [];
      await takesTime(scheduler, actor, play, "receives the model's answer", signal);
      const finishReason = made.length > 0 ? "tool_calls" : "stop";
      const more = { usage: undefined, model: "test" };
      yield { kind: "turn", turn: { messageJson: "{}", finishReason, calls: made, ...more } };
    },
  };
}

/** The tool. Reports each execution to the rules. */
export function countingTool(scheduler: Scheduler, actor: Actor, play: Play, rules: Rules): Tool {
  return {
    descriptor: catalogFor(play).tools[0] ?? create(ToolDescriptorSchema),
    async call({ callId }, signal) {
      rules.begins(actor.name, callId, play);
      if (play.tool === "endless") await neverEnds(scheduler, actor, signal);
      else await takesTime(scheduler, actor, play, "executes the call", signal);
      return { content: "1", isError: false };
    },
  };
}

/** Sleeps that end when no actor can act. */
export function sleeping(scheduler: Scheduler, actor: Actor): Clock["sleep"] {
  return async (delayMs, signal) => {
    if (delayMs === 0) return;
    const label = `waits ${delayMs} ms`;
    await scheduler.act({ actor, label, kind: "wait", signal, ...nothing });
  };
}

async function takesTime(
  scheduler: Scheduler,
  actor: Actor,
  { isSlow }: Play,
  label: string,
  signal: AbortSignal,
): Promise<void> {
  const isTrivial = () => isSlow !== true;
  await scheduler.act({ actor, label, kind: "look", isTrivial, signal, ...nothing });
}

async function neverEnds(scheduler: Scheduler, actor: Actor, signal: AbortSignal): Promise<void> {
  const label = "executes the call";
  await scheduler.act({ actor, label, kind: "look", signal, ...nothing, isPossible: () => false });
}

/** An act whose only effect is that time passes. */
const nothing = { happen: async () => undefined, outcomeOf: () => "" };
