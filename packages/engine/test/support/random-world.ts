import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunHookResponseSchema } from "@reeve/contracts/extensions/plugin";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import type { RunEvent } from "@reeve/contracts/run";
import { ClientCallState, ModelCallPurpose, RunStatus } from "@reeve/contracts/run";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import * as fc from "fast-check";
import { endRun } from "../../src/domain/end-run.ts";
import type { EventInit } from "../../src/domain/state/fact.ts";
import { fact, rootScope } from "../../src/domain/state/fact.ts";
import type { Frame } from "../../src/domain/state/frame.ts";
import { plannerId } from "../../src/domain/state/frame.ts";
import type { Effect } from "../../src/domain/next-effects.ts";
import { nextEffects, openWaits } from "../../src/domain/next-effects.ts";
import { promptTokens } from "../../src/domain/model/prompt-tokens.ts";
import { frameOf } from "../../src/domain/state/run-state.ts";
import { PlayedRun } from "./run-player.ts";
import type { Setting } from "./played-log.ts";
import type { PlayedCall } from "./run-player.ts";
import { anyCalls, anySetting, anySpec } from "./random-specs.ts";

/** An agent, its environment, and all random choices during its run. */
export interface World {
  readonly spec: ConstructorParameters<typeof PlayedRun>[0];
  readonly setting: Setting;
  /** The choice at each point. After the last one, everything in progress ends in the simplest way. */
  readonly choices: readonly Choice[];
}

export interface Choice {
  /** Selects one of the possible actions. */
  readonly which: number;
  readonly calls: readonly PlayedCall[];
  /** The length of texts and results. */
  readonly characters: number;
  readonly waitMs: number;
}

const choice: fc.Arbitrary<Choice> = fc.record({
  which: fc.nat(1_000),
  calls: anyCalls,
  characters: fc.oneof(
    { weight: 3, arbitrary: fc.nat(60) },
    { weight: 1, arbitrary: fc.nat(3_000) },
  ),
  waitMs: fc.oneof({ weight: 9, arbitrary: fc.nat(50) }, { weight: 1, arbitrary: fc.nat(30_000) }),
});

export const anyWorld: fc.Arbitrary<World> = fc.record({
  spec: anySpec,
  setting: anySetting,
  choices: fc.array(choice, { maxLength: 80, size: "max" }),
});

/** The choice that ends everything in progress in the simplest way. */
const simplest: Choice = { which: 0, calls: [], characters: 4, waitMs: 0 };
/** More than any run of a world needs. */
const maxActions = 3_000;

/** Plays a world to its end, and calls `look` after each action. */
export function play(
  { spec, setting, choices }: World,
  look: (run: PlayedRun) => void = () => undefined,
): PlayedRun {
  return playOn(new PlayedRun(spec, setting), choices, look);
}

/** Continues a run to its end. */
function playOn(
  run: PlayedRun,
  choices: readonly Choice[],
  look: (run: PlayedRun) => void = () => undefined,
): PlayedRun {
  look(run);
  for (let count = 0; run.end === undefined; count++) {
    if (count > maxActions) throw new Error(`the run does not end: ${run.trace.slice(-20).join()}`);
    const chosen = choices[count] ?? simplest;
    run.nowMs += chosen.waitMs;
    const possible = possibleActions(run, chosen);
    const act = possible[chosen.which % possible.length];
    if (act === undefined) throw new Error("the run has nothing to do and nothing to wait for");
    act();
    look(run);
  }
  return run;
}

/**
 * Continues a run from its first `survived` events: a new owner claims it, and prepares it, if it is not, in the same way as
 * before.
 */
export function takeOver(
  events: readonly RunEvent[],
  survived: number,
  choices: readonly Choice[] = [],
): PlayedRun {
  const run = new PlayedRun({}, {}, events.slice(0, survived));
  const prepared = events.find(({ event }) => event.case === "runPrepared")?.event;
  const pinned = events.find(({ event }) => event.case === "pluginsPinned")?.event;
  const plugins = pinned?.case === "pluginsPinned" ? [pinned] : [];
  const isPrepared = run.state.head.prepared !== undefined || prepared?.case !== "runPrepared";
  const epoch = (run.state.head.claim?.epoch ?? 0) + 1;
  const claim: EventInit = {
    case: "runClaimed",
    value: { worker: `w${epoch}`, epoch, dispatchSequence: 1n },
  };
  if (isPrepared) run.write(claim);
  else
    run.write(
      claim,
      { case: "status", value: { status: RunStatus.STARTING } },
      prepared,
      ...plugins,
    );
  return playOn(run, choices);
}

/** Returns all possible next actions, the simplest first. */
function possibleActions(run: PlayedRun, chosen: Choice): readonly (() => unknown)[] {
  const effects = nextEffects(run.state);
  const waits = openWaits(run.state);
  const asked = effects.length === 0 ? personAnswers(run, chosen) : [];
  if (run.state.head.parkedAt !== undefined) {
    const wakes =
      waits.length === 0
        ? asked.map((answer) => () => answer().claimedAnew())
        : [() => decided(run, waits, chosen).claimedAnew()];
    return [...wakes, ...external(run, chosen)];
  }
  const own = effects.flatMap((effect) => ofEffect(run, effect, chosen));
  const decisions = waits.length === 0 ? [] : [() => decided(run, waits, chosen)];
  const parks = effects.length === 0 && waits.length > 0 ? [() => run.parks()] : [];
  return [...parks, ...own, ...decisions, ...asked, ...external(run, chosen)];
}

/** Returns the answers of people to calls through a client. */
function personAnswers(run: PlayedRun, { characters }: Choice): readonly (() => PlayedRun)[] {
  const calls = [...run.state.frames.values()].flatMap((frame) => frame.calls);
  const open = calls.filter(
    ({ result, clientCall }) => result === undefined && clientCall?.isAnsweredByPerson === true,
  );
  const state = characters % 2 === 0 ? ClientCallState.ANSWERED : ClientCallState.EXPIRED;
  return open.map(({ call: { callId } }) => () => {
    return run.write({ case: "clientCall", value: { callId, state, content: "by a person" } });
  });
}

const decisions = [ApprovalState.APPROVED, ApprovalState.REJECTED, ApprovalState.TIMED_OUT];

function decided(
  run: PlayedRun,
  waits: readonly string[],
  { which, characters }: Choice,
): PlayedRun {
  const callId = waits[which % waits.length];
  const state = decisions[characters % decisions.length] ?? ApprovalState.APPROVED;
  const isQuestion = run.approvalOf(callId)?.question !== undefined;
  return run.decides(state, {
    callId,
    ...(isQuestion && { answer: { answer: characters % 7 === 0 ? 7 : "b" } }),
    ...(!isQuestion && which % 5 === 4 && { edited: { q: "edited" } }),
  });
}

/** The answers that each phase permits, the simplest first. A failed hook and a stop are rare, because they hide what would follow. */
function hookEnds(
  run: PlayedRun,
  effect: Extract<Effect, { kind: "run_hook" }>,
  { characters }: Choice,
): readonly (() => unknown)[] {
  const answers = (...given: readonly MessageInitShape<typeof RunHookResponseSchema>[]) =>
    given.map((answer) => () => run.hookEnds(effect, answer));
  const rare = [
    ...(characters % 16 === 1 ? [() => run.hookEnds(effect, {}, "broken")] : []),
    ...(characters % 32 === 2 ? answers({ verdict: { case: "stop", value: {} } }) : []),
    ...(characters % 4 === 3 ? answers({ actions: [{ name: "now" }] }) : []),
    ...answers({ actions: [{ name: "later", delay: durationFromMs(5_000) }] }),
  ];
  switch (effect.due.point?.phase) {
    case HookPhase.TOOL_GATE:
      return [
        ...answers(
          {},
          { verdict: { case: "ask", value: {} } },
          { verdict: { case: "deny", value: { reason: "no" } } },
          { verdict: { case: "rewrite", value: { arguments: { q: "rewritten" } } } },
        ),
        ...rare,
      ];
    case HookPhase.BEFORE_TOOL:
      return [...answers({}, { verdict: { case: "deny", value: {} } }), ...rare];
    case HookPhase.BEFORE_INFERENCE:
      return [
        ...answers({}, { transform: { instructions: "be brief", removedTools: ["search"] } }),
        ...rare,
      ];
    default:
      return [...answers({}, {}, {}), ...rare];
  }
}

function ofEffect(run: PlayedRun, effect: Effect, chosen: Choice): readonly (() => unknown)[] {
  const { characters, calls } = chosen;
  const id = effect.frame;
  const text = "x".repeat(characters);
  switch (effect.kind) {
    case "call_model": {
      const frame = frameOf(run.state, id);
      if (effect.call.purpose === ModelCallPurpose.SUMMARY) {
        run.summary = text;
        return [
          () => run.turnIn(id),
          () => run.fails("unavailable", { id, retryable: true }),
          () => run.fails("invalid", { id }),
        ];
      }
      const usage = { inputTokens: promptTokens(run.state, frame), outputTokens: characters % 50 };
      const turn = () => run.turnIn(id, calls, usage);
      const fails = (reason: string) => () => run.fails(reason, { id });
      return [
        () => answer(run, frame, usage.inputTokens),
        turn,
        turn,
        turn,
        turn,
        () => run.says(text, id),
        () => run.fails("unavailable", { id, retryable: true }),
        // Permanent failures are rare, because they hide everything that would follow.
        ...(characters % 8 === 0 ? [fails("context_overflow")] : []),
        ...(characters % 8 === 1 ? [fails("refused")] : []),
        ...(characters % 8 === 2 ? [() => run.turnIn(id, [], usage)] : []),
        ...(characters % 8 === 3 ? [() => run.answers(text, "length", id)] : []),
        ...(characters % 8 === 5 ? [() => run.answers(text, "content_filter", id)] : []),
      ];
    }
    case "wait_to_retry":
      return [() => run.retries(id)];
    case "count_tokens":
      return [() => run.counts(characters, id), () => run.counts(0, id)];
    case "await_client": {
      const { callId } = effect.call.call;
      const changes = (state: ClientCallState) => () =>
        run.write({ case: "clientCall", value: { callId, state, clientId: "c", content: text } });
      const { TAKEN, ANSWERED, EXPIRED } = ClientCallState;
      const isTaken = effect.call.clientCall?.clientId !== "";
      return [isTaken ? ANSWERED : TAKEN, ANSWERED, EXPIRED].map(changes);
    }
    case "inherit_calls": {
      const { runId } = effect;
      const value = { runId, isComplete: true, calls: 0 };
      return [() => run.write({ case: "workflowContinued", value })];
    }
    case "inspect_call":
    case "answer_question":
    case "review_call":
      return [];
    case "run_hook":
      return hookEnds(run, effect, chosen);
    case "call_tool":
    case "call_plugin_tool":
    case "call_runtime_tool":
    case "generate_media":
    case "wait_for_delay": {
      const index = frameOf(run.state, id).calls.findIndex(
        ({ call }) => call.callId === effect.call.call.callId,
      );
      return [() => run.result(index, text, id), () => run.progresses("on it", id)];
    }
  }
}

/** Plays the simplest answer of a frame: a result that fits its schema, a plan, or a text. */
function answer(run: PlayedRun, frame: Frame, inputTokens: number): PlayedRun {
  const schema = frame.subtask?.job.outputSchema;
  if (schema !== undefined) {
    return run.turnIn(frame.id, [{ name: finishSubtaskName, args: { n: 1 } }], { inputTokens });
  }
  const text = frame.id === plannerId ? `{"steps":["look","tell"]}` : "done";
  return run.says(text, frame.id).turnIn(frame.id, [], { inputTokens });
}

/** Returns the actions of external writers, and the loss of the worker. */
function external(run: PlayedRun, { characters }: Choice): readonly (() => unknown)[] {
  const requested: EventInit = { case: "cancelRequested", value: { reason: "enough" } };
  const cancels = () =>
    run.append([fact(rootScope, requested), ...endRun(run.state, RunStatus.CANCELLED, "enough")]);
  return [
    () => run.receivesMessage("and then?"),
    () => run.claimedAnew(),
    // Cancellation is rare, because it ends the run.
    ...(characters % 16 === 0 ? [cancels] : []),
  ];
}
