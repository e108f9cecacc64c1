import type { MessageInitShape } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import type { GuardVerdictSchema } from "@reeve/contracts/run";
import { GuardAction, GuardTarget } from "@reeve/contracts/run";
import { nextEffects } from "../../../src/domain/next-effects.ts";
import { PlayedRun } from "../run-player.ts";

type Verdict = Omit<MessageInitShape<typeof GuardVerdictSchema>, "$typeName" | "$unknown">;

const phases = [
  HookPhase.RUN_START,
  HookPhase.AFTER_INFERENCE,
  HookPhase.TOOL_GATE,
  HookPhase.AFTER_TOOL,
];

const section = fromJson(ValueSchema, {
  input: [{ name: "in", literals: ["go"], action: "redact" }],
  output: [{ name: "out", model: { policy: "p" }, action: "refuse" }],
  tools: [{ name: "both", literals: ["found"], action: "redact" }],
});

const plugins = [
  {
    plugin: {
      pluginDescriptor: { id: "guardrails", version: "1", phases: [...phases] },
      origin: "builtin",
    },
    guardrails: { sections: [{ section }] },
  },
];

const redactions = [{ start: 0, end: 2, label: "text" }];

/** A run with guards: a replaced input, a refused answer with its usage, a worker that is lost before a verdict, and a replaced result. */
export function recordedGuards(): PlayedRun {
  const run = ends(new PlayedRun({}, { plugins }), {
    guard: "in",
    target: GuardTarget.INPUT,
    action: GuardAction.REDACT,
    reason: "it contains one of its texts",
    redactions,
  });
  run.says("No.").turn().claimedAnew();
  ends(run, {
    guard: "out",
    target: GuardTarget.OUTPUT,
    action: GuardAction.REFUSE,
    reason: "be helpful",
    model: "judge",
    usage: { inputTokens: 7, outputTokens: 1 },
  });
  run.turn({ name: "search", args: { q: "a" } });
  ends(run, { guard: "both", target: GuardTarget.ARGUMENTS, action: GuardAction.PASS });
  run.result(0, "found");
  ends(run, {
    guard: "both",
    target: GuardTarget.RESULT,
    action: GuardAction.REDACT,
    reason: "it contains one of its texts",
    redactions,
  });
  run.says("Done.").turn();
  return ends(run, { guard: "out", target: GuardTarget.OUTPUT, action: GuardAction.PASS });
}

/** Ends the check that is due. */
function ends(run: PlayedRun, verdict: Verdict): PlayedRun {
  const next = nextEffects(run.state).find(({ kind }) => kind === "run_hook");
  if (next?.kind !== "run_hook") throw new Error("no check is due");
  return run.hookEnds(next, {}, "", [verdict]);
}
