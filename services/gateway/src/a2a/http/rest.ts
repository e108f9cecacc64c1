import {
  CancelTaskRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  SendMessageResponse,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import { RequestMalformedError, restStatusFor, toRestErrorBody } from "@a2a-js/sdk/errors";
import type { JsonValue } from "@bufbuild/protobuf";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { RefusedError } from "../a2a-error.ts";
import type { RequestHandler } from "../request-handler.ts";
import { jsonAnswer, streamAnswer } from "./answers.ts";
import type { BindingRequest } from "./binding-request.ts";
import { assertVersion } from "./json-rpc.ts";

/** A request of the HTTP+JSON binding. */
interface RestRequest extends BindingRequest {
  readonly method: string;
  /** The path after the address of the agent. */
  readonly path: string;
  readonly query: string;
  readonly body: string;
}

/** Answers a request of the HTTP+JSON binding. Undefined: it has no such address. */
export async function answerRest(
  handler: RequestHandler,
  request: RestRequest,
): Promise<UniversalServerResponse | undefined> {
  try {
    assertVersion(request.version);
    return await answerOf(handler, request);
  } catch (error) {
    return refusal(error);
  }
}

async function answerOf(
  handler: RequestHandler,
  request: RestRequest,
): Promise<UniversalServerResponse | undefined> {
  const { method, path, query } = request;
  const [, id = "", verb] = /^\/tasks\/([^/:]+)(?::(\w+))?$/.exec(path) ?? [];
  const parameters = Object.fromEntries(new URLSearchParams(query));
  const isPost = method === "POST";
  if (isPost && path === "/message:send") {
    const sent = await handler.sendMessage(SendMessageRequest.fromJSON(json(request)));
    const answer = SendMessageResponse.toJSON({ payload: { $case: "task", value: sent } });
    return jsonAnswer(200, answer);
  }
  if (isPost && path === "/message:stream") {
    const events = handler.sendMessageStream(SendMessageRequest.fromJSON(json(request)));
    return await streamed(events, request);
  }
  if (verb === "subscribe") return await streamed(handler.resubscribe({ tenant: "", id }), request);
  if (isPost && verb === "cancel") {
    return jsonAnswer(
      200,
      Task.toJSON(await handler.cancelTask(CancelTaskRequest.fromJSON({ id }))),
    );
  }
  if (method === "GET" && id !== "" && verb === undefined) {
    const { historyLength } = parameters;
    const length = historyLength === undefined ? undefined : naturalNumber(historyLength);
    const task = await handler.getTask({ tenant: "", id, historyLength: length });
    return jsonAnswer(200, Task.toJSON(task));
  }
  if (method === "GET" && path === "/tasks") {
    const page = await handler.listTasks(ListTasksRequest.fromJSON(parameters));
    return jsonAnswer(200, ListTasksResponse.toJSON(page));
  }
  return await pushAnswer(handler, request);
}

/** Answers a request about push notification configurations. Undefined: the address is another one. */
async function pushAnswer(
  handler: RequestHandler,
  request: RestRequest,
): Promise<UniversalServerResponse | undefined> {
  const { method, path } = request;
  const [, taskId, id = ""] =
    /^\/tasks\/([^/:]+)\/pushNotificationConfigs(?:\/([^/:]+))?$/.exec(path) ?? [];
  if (taskId === undefined) return undefined;
  const place = { tenant: "", taskId, id };
  if (method === "POST" && id === "") {
    const given = TaskPushNotificationConfig.fromJSON(json(request));
    const created = await handler.createTaskPushNotificationConfig({ ...given, taskId });
    return jsonAnswer(200, TaskPushNotificationConfig.toJSON(created));
  }
  if (method === "GET" && id === "") {
    const all = { tenant: "", taskId, pageSize: 0, pageToken: "" };
    const page = await handler.listTaskPushNotificationConfigs(all);
    return jsonAnswer(200, ListTaskPushNotificationConfigsResponse.toJSON(page));
  }
  if (method === "GET") {
    const found = await handler.getTaskPushNotificationConfig(place);
    return jsonAnswer(200, TaskPushNotificationConfig.toJSON(found));
  }
  if (method !== "DELETE" || id === "") return undefined;
  await handler.deleteTaskPushNotificationConfig(place);
  return jsonAnswer(200, {});
}

async function streamed(
  stream: AsyncIterable<StreamResponse>,
  { interval, signal }: BindingRequest,
): Promise<UniversalServerResponse> {
  async function* events(): AsyncIterable<JsonValue> {
    // The SDK renders JSON.
    for await (const event of stream) yield StreamResponse.toJSON(event) as JsonValue;
  }
  return await streamAnswer({ events: events(), errorOf }, interval, signal);
}

function errorOf(error: unknown): unknown {
  if (error instanceof RefusedError) return error.restBody;
  return toRestErrorBody(error, restStatusFor(error));
}

function refusal(error: unknown): UniversalServerResponse {
  if (error instanceof RefusedError) return jsonAnswer(error.status, error.restBody, error.headers);
  const status = restStatusFor(error);
  return jsonAnswer(status, toRestErrorBody(error, status));
}

function json({ body }: RestRequest): unknown {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Refused below.
  }
  throw new RequestMalformedError({ message: "the body is not a JSON object" });
}

function naturalNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) {
    throw new RequestMalformedError({ message: "historyLength must be a natural number" });
  }
  return Number(text);
}
