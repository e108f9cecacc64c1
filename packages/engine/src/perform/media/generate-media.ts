import { setImmediate as endOfTurn } from "node:timers/promises";
import type { ModelSpec } from "@reeve/contracts/agent";
import type { FilePart } from "@reeve/contracts/content/parts";
import { ToolStatus } from "@reeve/contracts/tool";
import { retry } from "@reeve/platform/async/retry/retry";
import { Failure } from "@reeve/platform/failure";
import { approvedCall } from "../../domain/calls/approved-call.ts";
import { refuse } from "../../domain/calls/tool-result.ts";
import { mediaModelOf } from "../../domain/media/media-call.ts";
import type { FailedGeneration } from "../../domain/media/media-facts.ts";
import { failedFacts, generatedFacts, waitingFact } from "../../domain/media/media-facts.ts";
import type { Effect } from "../../domain/next-effects.ts";
import type { Fact } from "../../domain/state/fact.ts";
import { fact } from "../../domain/state/fact.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import { frameOf } from "../../domain/state/run-state.ts";
import type { MediaGenerator } from "../../ports/media-generator.ts";
import type { ModelProvider } from "../../ports/model-provider.ts";
import { ModelFailure } from "../../ports/model-provider.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import { assertModelAllowed, providerOf } from "../models/model-access.ts";
import { ownerOf } from "../models/owner-of.ts";
import { refusalOfCall } from "../policy-now.ts";
import { memoryFor } from "./media-memory.ts";
import { formatOf, mediaRequest } from "./media-request.ts";
import { retriedGeneration } from "./retried-generation.ts";
import { storeMedia } from "./store-media.ts";

/** How long a generation may take, with its retries. */
const maxGenerationMs = 600_000;
/** How often a registry is read that does not answer: within about ten seconds. */
const registryReads = {
  maxAttempts: 12,
  backoff: { firstDelayMs: 100, maxDelayMs: 1_000, jitter: 0.5 },
  isRetryable: (error: unknown) => error instanceof Failure && error.kind === "unavailable",
};
/** How many partial images of a call are stored. */
const maxPartials = 12;

type GenerateMedia = Extract<Effect, { kind: "generate_media" }>;

/**
 * Generates the media of a call, and stores each file as an artifact of the run. Yields a report for each partial image, and then the
 * result with what the attempt has used, or the reason why there is none. Not idempotent: the log says before that the attempt starts, and
 * whether it has to wait for memory first.
 */
export async function* generateMedia(
  state: RunState,
  effect: GenerateMedia,
  ports: RunPorts,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  const { scope, call, frame: frameId } = effect;
  const frame = frameOf(state, frameId);
  const tool = frame.tools.get(call.call.name);
  const refusal = tool && refusalOfCall(state, tool, { call, frame: frameId }, ports);
  if (refusal !== undefined) {
    const { reason, permission = call.permission } = refusal;
    yield [refuse({ ...call, permission }, scope, reason, ToolStatus.ERROR, ports.clock.now())];
    return;
  }
  const model = mediaModelOf(state, frame, effect.media);
  using held = new DisposableStack();
  const memory = memoryOf(state, effect, model, ports, signal);
  held.defer(
    () =>
      void memory.then(
        (bytes) => bytes?.[Symbol.dispose](),
        () => undefined,
      ),
  );
  const isReady = memory.then(() => true);
  if (!(await Promise.race([isReady, endOfTurn().then(() => false)]))) {
    yield [waitingFact(effect, model, true)];
    await memory;
    // The log has it before the provider is asked.
    yield [waitingFact(effect, model, false)];
  }
  const deadline = AbortSignal.timeout(maxGenerationMs);
  try {
    const bounded = AbortSignal.any([signal, deadline]);
    const signals = { signal: bounded, stopped: signal };
    yield* generated(state, effect, assertKnown(model), ports, signals);
  } catch (error) {
    signal.throwIfAborted();
    const failed = failureOf(error, deadline);
    const named = { ...failed, model: model?.upstreamName ?? "" };
    yield failedFacts(effect, named, ports.clock.now());
  }
}

/** Waits until this process has memory for the answer, before the time of the generation begins. */
async function memoryOf(
  { head: { created } }: RunState,
  { call, media }: GenerateMedia,
  model: ModelSpec | undefined,
  { fileMemory }: Pick<RunPorts, "fileMemory">,
  signal: AbortSignal,
): Promise<Disposable | undefined> {
  if (model === undefined) return undefined;
  const bytes = memoryFor(mediaRequest(media, model, approvedCall(call).arguments ?? {}));
  return await fileMemory?.acquire(created?.tenant ?? "", bytes, signal);
}

interface GenerationSignals {
  /** Ends the generation: it is stopped, or takes too long. */
  readonly signal: AbortSignal;
  /** Ends the storing of what was generated, which is paid for, and has time of its own. */
  readonly stopped: AbortSignal;
}

async function* generated(
  state: RunState,
  effect: GenerateMedia,
  model: ModelSpec,
  ports: RunPorts,
  { signal, stopped }: GenerationSignals,
): AsyncIterable<readonly Fact[]> {
  const { scope, call, media } = effect;
  const { callId, name, arguments: args = {} } = approvedCall(call);
  assertModelAllowed(state, model, ports);
  const generator = await generatorOf(model, ports, signal);
  const request = { ...mediaRequest(media, model, args), owner: ownerOf(state) };
  const store = async (bytes: Uint8Array, label: string): Promise<FilePart> => {
    const { ending, mediaType } = formatOf(request, bytes);
    const file = {
      name: `${media}-${label}.${ending}`,
      mediaType,
      bytes,
      key: `${callId}/${call.media?.attempt ?? 1}/${label}`,
    };
    return await storeMedia(state, file, ports, stopped);
  };
  const maxFiles = request.kind === "image" ? request.count : 1;
  const files: FilePart[] = [];
  let partials = 0;
  let used = { inputTokens: 0, outputTokens: 0 };
  for await (const part of retriedGeneration(generator, request, ports, signal)) {
    switch (part.kind) {
      case "usage":
        used = part;
        break;
      case "file":
        // The cost that was reserved is that of the files that were asked for.
        if (files.length >= maxFiles) break;
        files.push(await store(part.bytes, String(files.length + 1)));
        break;
      case "partial": {
        if (partials >= maxPartials) break;
        partials += 1;
        const file = await store(part.bytes, `partial-${partials}`);
        const message = `partial image: artifact ${file.artifactId}`;
        // Attempts that were lost have reported progress, which only increases.
        const progress = call.progressReports + partials;
        yield [fact(scope, { case: "mcpProgress", value: { callId, name, progress, message } })];
        break;
      }
    }
  }
  if (files.length === 0) {
    throw new ModelFailure("malformed", "the provider generated no file", billed);
  }
  yield generatedFacts(effect, { model, files, ...used }, ports.clock.now());
}

const billed = { retryable: false, answerBegan: true };

function assertKnown(model: ModelSpec | undefined): ModelSpec {
  if (model !== undefined) return model;
  throw new ModelFailure("not_configured", "the run has no model that generates such media");
}

async function generatorOf(
  model: ModelSpec,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<MediaGenerator> {
  const { media } = await registeredProvider(model, ports, signal);
  if (media !== undefined) return media;
  const message = `the provider ${model.provider} of worker ${ports.worker} generates no media`;
  throw new ModelFailure("unsupported", message);
}

/** As `providerOf`. A registry that cannot be read for longer than a moment is a ModelFailure: nobody was asked. */
async function registeredProvider(
  model: ModelSpec,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<ModelProvider> {
  const { clock } = ports;
  const find = () => providerOf(model, ports, signal);
  try {
    return await retry(find, { ...registryReads, clock }, signal);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const message = `the registry of models cannot be read: ${error.message}`;
    throw new ModelFailure("not_configured", message, { cause: error });
  }
}

/** Returns why a generation failed. Rethrows what is no failure of the provider or of the store. */
function failureOf(error: unknown, deadline: AbortSignal): Omit<FailedGeneration, "model"> {
  if (error instanceof ModelFailure) {
    const { reason, message, isUnprocessed } = error;
    return { reason, message, mayBeBilled: !isUnprocessed };
  }
  if (!deadline.aborted) throw error;
  const message = `the generation did not end within ${maxGenerationMs / 1_000} s`;
  return { reason: "unavailable", message, mayBeBilled: true };
}
