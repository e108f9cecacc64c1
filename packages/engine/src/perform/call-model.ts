import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { ModelCallFailedSchema } from "@reeve/contracts/run";
import { ModelCallPurpose } from "@reeve/contracts/run";
import type { Fact, Scope } from "../domain/state/fact.ts";
import { bytesOf, fact, textPart } from "../domain/state/fact.ts";
import type { ReceivedTurn } from "../domain/model/model-turn-facts.ts";
import {
  failedUsageFacts,
  modelTurnFacts,
  summaryFacts,
} from "../domain/model/model-turn-facts.ts";
import { modelOf } from "../domain/model/model-of.ts";
import type { AfterFailure } from "../domain/model/after-failure.ts";
import { afterFailure } from "../domain/model/after-failure.ts";
import type { Effect } from "../domain/next-effects.ts";
import type { ModelCall } from "../domain/state/frame.ts";
import type { RunState } from "../domain/state/run-state.ts";
import { frameOf } from "../domain/state/run-state.ts";
import type { ModelTurn } from "../ports/model-provider.ts";
import { ModelFailure } from "../ports/model-provider.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { openTaskOf } from "../domain/delegates/open-remote-tasks.ts";
import { holdingGuards } from "../domain/guardrails/guards-at.ts";
import { heldAnswerFacts } from "./guardrails/held-answer.ts";
import { loadFiles } from "./files/load-files.ts";
import { cancelRemoteTasks } from "./models/cancel-remote-tasks.ts";
import { assertModelAllowed, providerOf } from "./models/model-access.ts";
import { ownerOf } from "./models/owner-of.ts";
import { modelRequest } from "./models/model-request.ts";
import { storeRunFile } from "./files/store-run-file.ts";
import { WholeCharacters } from "./whole-characters.ts";

/** Calls the model once. Yields its text as it arrives, and then its turn, or the reason why it gave none. */
export async function* callModel(
  state: RunState,
  { scope, call, frame: frameId }: Extract<Effect, { kind: "call_model" }>,
  ports: RunPorts,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  const frame = frameOf(state, frameId);
  const isSummary = call.purpose === ModelCallPurpose.SUMMARY;
  const model = modelOf(state, frame);
  const provider = model?.provider ?? "";
  const guards = isSummary ? [] : holdingGuards(state, frame);
  let answerBegan = false;
  let remoteTaskId = frame.remote?.taskId;
  try {
    const request = modelRequest(state, frame, call, ports.clock.now());
    assertModelAllowed(state, request.model, ports);
    const called = await providerOf(request.model, ports, signal);
    using loaded = await loadFiles(state, request, ports, signal);
    let answer = "";
    let reasoning = "";
    const whole = { text: new WholeCharacters(), reasoning: new WholeCharacters() };
    const sent = { ...request, ...loaded.files, owner: ownerOf(state) };
    for await (const part of called.stream(sent, signal)) {
      if (part.kind === "turn") {
        const taken: ReceivedTurn = {
          call,
          model: request.model,
          format: called.format,
          turn: part.turn,
        };
        if (guards.length > 0) {
          const held = { taken, text: answer, reasoning, guards };
          yield storable(scope, await heldAnswerFacts(state, frame, held, ports, signal));
          return;
        }
        yield storable(
          scope,
          isSummary
            ? summaryFacts(state, frame, taken, answer)
            : modelTurnFacts(state, frame, taken),
          part.turn,
        );
        return;
      }
      if (part.kind === "remote_task") {
        const { taskId, contextId } = part;
        remoteTaskId = taskId;
        yield [fact(scope, { case: "remoteTask", value: { taskId, contextId } })];
        continue;
      }
      if (part.kind === "file") {
        await storeRunFile(state, part.file, ports, signal);
        continue;
      }
      answerBegan = true;
      if (part.kind === "text") answer += part.text;
      else if (guards.length > 0) reasoning += part.text;
      // A summary is not streamed: only the next prompt contains it. Neither is an answer that guards hold back.
      if (isSummary || guards.length > 0) continue;
      const text = whole[part.kind].take(part.text);
      if (text !== "") yield [textPart(scope, part.kind, text)];
    }
    throw new ModelFailure("malformed", "the answer ended without a turn");
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    const after = afterFailure(state, { frame, call }, error, ports.clock.now());
    const open = openTaskOf(state, frame, remoteTaskId);
    const isRepeated = after.delayMs !== undefined || after.fallbackModel !== undefined;
    // The end of a run cancels the task of its agent; the run of a delegate's caller may still be long.
    if (open !== undefined && !isRepeated && frame.subtask !== undefined) {
      const tenant = ownerOf(state)?.tenant ?? "";
      await cancelRemoteTasks([{ tenant, ...open }], ports, signal);
    }
    // An attempt that follows may report the same usage again, as a part of its own.
    const isCharged = model !== undefined && !isRepeated;
    yield [
      ...(isCharged ? failedUsageFacts(scope, model, error.usage) : []),
      fact(scope, {
        case: "modelCallFailed",
        value: {
          ...failureOf(error, { ...after, call, provider }),
          answerBegan: answerBegan || error.answerBegan,
        },
      }),
    ];
  }
}

/** Returns the record of a failed attempt, with what follows it. */
function failureOf(
  { reason, message, retryable, retryAfterMs }: ModelFailure,
  { delayMs, fallbackModel = "", call, provider }: FailedAttempt,
): MessageInitShape<typeof ModelCallFailedSchema> {
  return {
    reason,
    message,
    retryable,
    attempt: call.attempt,
    provider,
    fallbackModel,
    ...(retryAfterMs !== undefined && { retryAfter: durationFromMs(Math.round(retryAfterMs)) }),
    ...(delayMs !== undefined && { retryDelay: durationFromMs(delayMs) }),
  };
}

interface FailedAttempt extends AfterFailure {
  readonly call: ModelCall;
  readonly provider: string;
}

/** A turn is one batch, with room for the facts that follow from it. */
const maxTurnBytes = 700 * 1024;

/**
 * The maximum bytes of the facts of an answer for each character of it: three for the message itself, and for arguments eight times
 * that, because a list of digits grows by so much in protobuf.
 */
const bytesPerCharacter = 3 + 3 * 8;
/** What the facts of an answer have beside what the provider sent. */
const ownBytes = 64 * 1024;

function maxBytesOf({ messageJson, finishReason, model }: ModelTurn): number {
  return (messageJson.length + finishReason.length + model.length) * bytesPerCharacter + ownBytes;
}

/**
 * Returns the facts of an answer. If they exceed a batch, returns its usage and a failure: a retry would be as large. With its turn,
 * the facts have nothing of variable size beside it.
 */
function storable(scope: Scope, facts: readonly Fact[], turn?: ModelTurn): readonly Fact[] {
  // Most are so small that they need not be measured.
  if (turn !== undefined && maxBytesOf(turn) <= maxTurnBytes) return facts;
  const bytes = facts.reduce((sum, fact) => sum + bytesOf(fact), 0);
  if (bytes <= maxTurnBytes) return facts;
  const message = `its answer takes ${bytes} bytes, and a turn may have ${maxTurnBytes}; set max_tokens, or have large content written to files part by part`;
  return [
    ...facts.filter(({ event }) => event.case === "usage"),
    fact(scope, {
      case: "modelCallFailed",
      value: { reason: "too_large", message, retryable: false },
    }),
  ];
}
