import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { durationFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { RunHookResponseSchema } from "@reeve/contracts/extensions/plugin";
import { HookPhase, MergeMode } from "@reeve/contracts/extensions/plugin";
import { nextEffects } from "../../../src/domain/next-effects.ts";
import type { DueHook } from "../../../src/domain/plugins/due-hooks.ts";
import { allPhases } from "./memory-plugins.ts";
import { PlayedRun } from "../run-player.ts";

type Answer = MessageInitShape<typeof RunHookResponseSchema>;

const plugins = [
  {
    plugin: {
      pluginDescriptor: {
        id: "guard",
        version: "1",
        phases: [...allPhases],
        stateKeys: [{ name: "calls", merge: MergeMode.SUM }],
        handlesActions: true,
      },
      digest: "d",
      origin: "package",
    },
  },
  {
    plugin: {
      pluginDescriptor: {
        id: "audit",
        version: "1",
        phases: [HookPhase.TOOL_GATE, HookPhase.RUN_END],
      },
      digest: "d",
      origin: "grpc",
      ignoresFailures: true,
    },
  },
];

const one = create(ValueSchema, { kind: { case: "numberValue", value: 1 } });

const answers = new Map<HookPhase, Answer>([
  [HookPhase.RUN_START, { actions: [{ name: "now" }, later(60_000)] }],
  [HookPhase.BEFORE_INFERENCE, { transform: { instructions: "Be brief.", removedTools: ["x"] } }],
  [HookPhase.AFTER_TOOL, { patches: [{ key: "calls", value: one }] }],
]);

/**
 * A run with two plugins: an action and a timer at its start, added instructions, replaced arguments, on which both gates decide again, a
 * refused call, a failed hook, a counter, and a worker that is lost between two rounds of a gate.
 */
export function recordedPlugins(): PlayedRun {
  const run = endHooks(new PlayedRun({}, { plugins }));
  run.turn({ name: "search", args: { q: "a" } }, { name: "search", args: { q: "no" } });
  endHooks(run, 3).claimedAnew();
  endHooks(run).result(0, "found");
  endHooks(run).says("Done.").turn();
  return endHooks(run);
}

function later(delayMs: number) {
  return { name: "later", delay: durationFromMs(delayMs) };
}

/** Ends the hooks that are due, at most `count` of them. Timers stay. */
export function endHooks(run: PlayedRun, count = Infinity): PlayedRun {
  for (let left = count; left > 0; left--) {
    const next = nextEffects(run.state).find(
      (effect) => effect.kind === "run_hook" && effect.due.action?.dueAtMs === undefined,
    );
    if (next?.kind !== "run_hook") return run;
    const { point, pluginId } = next.due;
    const isFailed = pluginId === "audit" && point?.phase === HookPhase.RUN_END;
    run.hookEnds(next, answerTo(next.due), isFailed ? "it is away" : "");
  }
  return run;
}

function answerTo({ point, pluginId }: DueHook): Answer {
  if (pluginId !== "guard") return {};
  const query = point?.call?.call.arguments?.["q"];
  if (point?.phase !== HookPhase.TOOL_GATE) return answers.get(point?.phase ?? 0) ?? {};
  if (query === "no") return { verdict: { case: "deny", value: { reason: "not that" } } };
  return query === "a" ? { verdict: { case: "rewrite", value: { arguments: { q: "b" } } } } : {};
}
