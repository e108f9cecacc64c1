import type { StreamResponse } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { A2AError } from "@a2a-js/sdk/errors";
import { create } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import { remoteProvider } from "@reeve/agent/resolve/remote-endpoint";
import { noRemoteUsage, usageSince } from "@reeve/agent/resolve/remote-usage";
import { askUserName } from "@reeve/agent/tools/runtime-tools";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { allModalities } from "@reeve/contracts/content/media";
import type {
  ModelPart,
  ModelProvider,
  ModelRequest,
  ModelTurn,
  ModelUsage,
} from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { sleep } from "@reeve/platform/async/sleep";
import { TooLargeMessage } from "./grpc/grpc-failure.ts";
import { SilentAgent } from "./grpc/grpc-sessions.ts";
import { remoteFailure, withUsage } from "./remote-failure.ts";
import type { RecordedTurn } from "./remote-message.ts";
import { answeredId, lastTurn, remoteFormat, remoteMessage } from "./remote-message.ts";
import type { RemoteEnd, RemoteQuestion } from "./remote-turn.ts";
import { RemoteTurn } from "./remote-turn.ts";
import type { FileSource } from "./remote-files.ts";
import { fileDelays, openDownloads, takeFiles } from "./remote-files.ts";
import type { RemoteClient, RemoteClients } from "./remote-clients.ts";
import { unnamedTask } from "./unnamed-task.ts";

/** The delays between two reads of a task whose agent does not stream. */
const firstPollMs = 500;
const longestPollMs = 10_000;
/** The most time of a step, also if the run may take more. */
const maxStepMs = 3_600_000;
/** After so many reads, a question that was answered counts as asked again. */
const maxStaleReads = 3;

/**
 * Creates the provider of agents at endpoints: each step of such an agent sends one message to the remote agent, and its turn is the
 * answer, or a question to a person. The task is recorded as soon as it is known, so that another attempt continues with it.
 */
export function remoteAgentProvider(
  clients: RemoteClients,
  { delays = fileDelays }: Partial<Pick<FileSource, "delays">> = {},
): ModelProvider {
  const downloads = openDownloads();
  const capabilities = { tools: true, parallelToolCalls: false, reasoning: true };
  return {
    descriptor: create(ProviderDescriptorSchema, {
      name: remoteProvider,
      capabilities,
      modalities: [...allModalities],
    }),
    format: remoteFormat,
    async *stream(request, signal) {
      const url = request.model.upstreamName;
      const maxMs = Math.ceil(Math.min(maxStepMs, request.remote?.maxMs ?? maxStepMs));
      const deadline = AbortSignal.timeout(maxMs);
      const until = AbortSignal.any([signal, deadline]);
      const { remote } = request;
      if (remote === undefined)
        throw new ModelFailure("invalid", "the request has no place in a run");
      const turn = new RemoteTurn(remote, answeredId(request));
      try {
        const agent = await clients.clientFor(request.owner?.tenant ?? "", url, until);
        yield* followTurn({ ...agent, downloads, delays }, turn, { ...request, remote }, until);
      } catch (error) {
        signal.throwIfAborted();
        const failure = deadline.aborted ? tooSlow(url, maxMs) : remoteFailure(error, url);
        throw withUsage(failure, usageOf(turn, request));
      }
    },
  };
}

function tooSlow(url: string, maxMs: number): ModelFailure {
  const message = `the remote agent at ${url} did not end its work within ${maxMs} ms, which is what the run had left of budgets.max_wall_clock, or the limit of a step`;
  return new ModelFailure("malformed", message, { retryable: false });
}

/** The request of a step, with its place in the work of the agent. */
type PlacedRequest = ModelRequest & { readonly remote: NonNullable<ModelRequest["remote"]> };

async function* followTurn(
  { client, streams, ...source }: RemoteClient & FileSource,
  turn: RemoteTurn,
  request: PlacedRequest,
  signal: AbortSignal,
): AsyncIterable<ModelPart> {
  const { remote } = request;
  if (remote.isAccepted) {
    yield* turn.takeTask(await client.getTask({ tenant: "", id: remote.taskId }, { signal }));
    if (turn.end === undefined && streams) {
      const again = client.resubscribeTask({ tenant: "", id: remote.taskId }, { signal });
      yield* takeAll(turn, again);
    }
  } else {
    try {
      yield* sendMessage({ client, streams }, turn, request, signal);
    } catch (error) {
      // An earlier attempt may have answered, and the task has moved on or ended since.
      if (remote.taskId === "" || !(error instanceof A2AError)) throw error;
      const task = await client.getTask({ tenant: "", id: remote.taskId }, { signal });
      if (turn.stillAsks(task)) throw error;
      yield* turn.takeTask(task);
    }
  }
  yield* pollTask(client, turn, signal);
  if (turn.end === undefined)
    throw new ModelFailure("malformed", "the remote agent gave no answer");
  if (turn.end.kind === "answer") {
    const files = yield* takeFiles(turn.files, request, source, signal);
    const paragraphs = [turn.end.text, ...(files.length === 0 ? [] : [files.join("\n")])];
    yield { kind: "text", text: paragraphs.filter((text) => text !== "").join("\n\n") };
  }
  yield { kind: "turn", turn: modelTurn(turn.end, turn, request) };
}

/** Sends the message of a step, and follows what the agent answers to it. */
async function* sendMessage(
  { client, streams }: Pick<RemoteClient, "client" | "streams">,
  turn: RemoteTurn,
  request: PlacedRequest,
  signal: AbortSignal,
): AsyncIterable<ModelPart> {
  const message = remoteMessage(request, request.remote);
  const configuration = {
    acceptedOutputModes: ["text/plain", "application/json"],
    taskPushNotificationConfig: undefined,
    returnImmediately: !streams,
  };
  const sent = { tenant: "", message, configuration, metadata: undefined };
  using task = unnamedTask(client, turn, signal);
  if (streams) {
    const events = client.sendMessageStream(sent, { signal: task.signal });
    yield* takeAll(turn, events, () => task.assertNeeded());
    return;
  }
  const result = await client.sendMessage(sent, { signal: task.signal });
  const payload =
    "messageId" in result
      ? ({ $case: "message", value: result } as const)
      : ({ $case: "task", value: result } as const);
  const parts = turn.take({ payload });
  await task.assertNeeded();
  yield* parts;
}

/**
 * Stops at the end of the work: what an agent sends after it is not read. Stops also at an event that is too large, such as a file, and at a
 * silence, if its task is known: then the task is read.
 */
async function* takeAll(
  turn: RemoteTurn,
  events: AsyncIterable<StreamResponse>,
  assertNeeded?: () => Promise<void>,
): AsyncIterable<ModelPart> {
  try {
    for await (const event of events) {
      const parts = turn.take(event);
      await assertNeeded?.();
      yield* parts;
      if (turn.end !== undefined) return;
    }
  } catch (error) {
    if (turn.taskId === "" || !isEndOfStream(error)) throw error;
  }
}

/**
 * Whether only the stream ended, so that its task can be read: at an event that is too large, for which the SDK has no error of its own, or
 * because a stream of gRPC was silent, which has no heartbeats.
 */
function isEndOfStream(error: unknown): boolean {
  if (error instanceof TooLargeMessage || error instanceof SilentAgent) return true;
  return error instanceof Error && /^SSE .* exceeded the maximum allowed size/.test(error.message);
}

/** Reads a task until it ends: its agent does not stream, or its stream ended before the work. */
async function* pollTask(
  client: Client,
  turn: RemoteTurn,
  signal: AbortSignal,
): AsyncIterable<ModelPart> {
  let delayMs = firstPollMs;
  for (let reads = 1; turn.end === undefined; reads++) {
    if (reads > maxStaleReads) turn.acceptRepeatedQuestion();
    if (turn.taskId === "")
      throw new ModelFailure("unavailable", "the remote agent ended its stream without a task");
    await sleep(delayMs, signal);
    delayMs = Math.min(delayMs * 2, longestPollMs);
    yield* turn.takeTask(await client.getTask({ tenant: "", id: turn.taskId }, { signal }));
  }
}

/** Returns what a task has used since the last turn. Undefined: the agent does not report it. */
function usageOf({ taskId, usage }: RemoteTurn, request: ModelRequest): ModelUsage | undefined {
  if (usage === undefined) return undefined;
  const before = lastTurn(request)?.used;
  const counted = before?.taskId === taskId ? before.usage : noRemoteUsage;
  return { ...usageSince(counted, usage), reasoningTokens: 0 };
}

function modelTurn(end: RemoteEnd, turn: RemoteTurn, sent: ModelRequest): ModelTurn {
  const { contextId, taskId, usage } = turn;
  const { model } = sent;
  const { request, messageId: askedId = "" } = end.kind === "question" ? end.question : {};
  const recorded: RecordedTurn = {
    url: model.upstreamName,
    contextId,
    ...(request && { request }),
    ...(askedId !== "" && { askedId }),
    ...(usage && { used: { taskId, usage } }),
  };
  const isQuestion = end.kind === "question";
  return {
    messageJson: JSON.stringify(recorded),
    finishReason: finishReasonOf(end),
    calls: isQuestion
      ? [
          {
            providerCallId: taskId,
            name: askUserName,
            argumentsText: JSON.stringify(askedOf(end.question)),
          },
        ]
      : [],
    usage: usageOf(turn, sent),
    model: model.upstreamName,
  };
}

function finishReasonOf(end: RemoteEnd): string {
  if (end.kind === "question") return "tool_calls";
  switch (end.incomplete) {
    case "truncated":
      return "length";
    case "filtered":
      return "content_filter";
    case undefined:
      return "stop";
  }
}

function askedOf({ text, request }: RemoteQuestion): JsonObject {
  if (request?.["kind"] === "approval") {
    const args = JSON.stringify(request["arguments"] ?? {}).slice(0, 2_000);
    const tool = typeof request["tool"] === "string" ? request["tool"] : "a tool";
    const question = `The remote agent needs an approval for its call of ${tool} with ${args}.`;
    return { question, choices: ["approve", "reject"] };
  }
  const schema = request?.["answerSchema"];
  return schema === undefined ? { question: text } : { question: text, answer_schema: schema };
}
