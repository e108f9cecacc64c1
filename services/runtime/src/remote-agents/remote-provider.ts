import type { StreamResponse } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { create } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import { remoteProvider } from "@reeve/agent/resolve/remote-endpoint";
import { askUserName } from "@reeve/agent/tools/runtime-tools";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import type {
  ModelPart,
  ModelProvider,
  ModelRequest,
  ModelTurn,
} from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { sleep } from "@reeve/platform/async/sleep";
import { remoteFailure } from "./remote-failure.ts";
import type { RecordedTurn } from "./remote-message.ts";
import { answeredId, remoteFormat, remoteMessage } from "./remote-message.ts";
import type { RemoteEnd, RemoteQuestion } from "./remote-turn.ts";
import { RemoteTurn } from "./remote-turn.ts";
import type { RemoteClient, RemoteClients } from "./remote-clients.ts";

/** The delays between two reads of a task whose agent does not stream. */
const firstPollMs = 500;
const longestPollMs = 10_000;
/** After so many reads, a question that was answered counts as asked again. */
const maxStaleReads = 3;

/**
 * Creates the provider of agents at endpoints: each step of such an agent sends one message to the remote agent, and its turn is the
 * answer, or a question to a person. The task is recorded as soon as it is known, so that another attempt continues with it.
 */
export function remoteAgentProvider(clients: RemoteClients): ModelProvider {
  const capabilities = { tools: true, parallelToolCalls: false, reasoning: true };
  return {
    descriptor: create(ProviderDescriptorSchema, { name: remoteProvider, capabilities }),
    format: remoteFormat,
    async *stream(request, signal) {
      const url = request.model.upstreamName;
      try {
        const remote = await clients.clientFor(request.owner?.tenant ?? "", url, signal);
        yield* followTurn(remote, request, signal);
      } catch (error) {
        signal.throwIfAborted();
        throw remoteFailure(error, url);
      }
    },
  };
}

async function* followTurn(
  { client, streams }: RemoteClient,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncIterable<ModelPart> {
  const { remote } = request;
  if (remote === undefined) throw new ModelFailure("invalid", "the request has no place in a run");
  const turn = new RemoteTurn(remote, answeredId(request));
  if (remote.isAccepted) {
    yield* turn.takeTask(await client.getTask({ tenant: "", id: remote.taskId }, { signal }));
    if (turn.end === undefined && streams) {
      const again = client.resubscribeTask({ tenant: "", id: remote.taskId }, { signal });
      yield* takeAll(turn, again);
    }
  } else {
    const message = remoteMessage(request, remote);
    const configuration = {
      acceptedOutputModes: ["text/plain", "application/json"],
      taskPushNotificationConfig: undefined,
      returnImmediately: !streams,
    };
    const sent = { tenant: "", message, configuration, metadata: undefined };
    if (streams) yield* takeAll(turn, client.sendMessageStream(sent, { signal }));
    else {
      const result = await client.sendMessage(sent, { signal });
      const payload =
        "messageId" in result
          ? ({ $case: "message", value: result } as const)
          : ({ $case: "task", value: result } as const);
      yield* turn.take({ payload });
    }
  }
  yield* pollTask(client, turn, signal);
  if (turn.end === undefined)
    throw new ModelFailure("malformed", "the remote agent gave no answer");
  if (turn.end.kind === "answer") yield { kind: "text", text: turn.end.text };
  yield { kind: "turn", turn: modelTurn(turn.end, turn, request) };
}

/** Stops at the end of the work: what an agent sends after it is not read. */
async function* takeAll(
  turn: RemoteTurn,
  events: AsyncIterable<StreamResponse>,
): AsyncIterable<ModelPart> {
  for await (const event of events) {
    yield* turn.take(event);
    if (turn.end !== undefined) return;
  }
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
    turn.takeTask(await client.getTask({ tenant: "", id: turn.taskId }, { signal }));
  }
  yield* [];
}

function modelTurn(
  end: RemoteEnd,
  { contextId, taskId }: RemoteTurn,
  { model }: ModelRequest,
): ModelTurn {
  const { request, messageId: askedId = "" } = end.kind === "question" ? end.question : {};
  const recorded: RecordedTurn = {
    contextId,
    ...(request && { request }),
    ...(askedId !== "" && { askedId }),
  };
  const isQuestion = end.kind === "question";
  return {
    messageJson: JSON.stringify(recorded),
    finishReason: isQuestion ? "tool_calls" : "stop",
    calls: isQuestion
      ? [
          {
            providerCallId: taskId,
            name: askUserName,
            argumentsText: JSON.stringify(askedOf(end.question)),
          },
        ]
      : [],
    usage: undefined,
    model: model.upstreamName,
  };
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
