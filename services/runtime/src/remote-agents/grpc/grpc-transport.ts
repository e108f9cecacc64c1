import {
  A2A_PROTOCOL_VERSION,
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  SendMessageResponse,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import type { RequestOptions, Transport } from "@a2a-js/sdk/client";
import type { DescMessage, DescMethodServerStreaming, DescMethodUnary } from "@bufbuild/protobuf";
import type { JsonValue } from "@bufbuild/protobuf";
import { fromJson, toJson } from "@bufbuild/protobuf";
import type { Transport as RpcTransport } from "@connectrpc/connect";
import { createTransport } from "@connectrpc/connect/protocol-grpc";
import { A2AService } from "@reeve/contracts/a2a-protocol";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { boundedClient } from "./bounded-client.ts";
import { grpcFailure } from "./grpc-failure.ts";
import type { GrpcSession } from "./grpc-sessions.ts";

/** The client of the transport has lower limits for what is read. */
const maxBytes = 0xffff_ffff;

/** Each level of data is three levels of messages. */
const binaryOptions = { recursionLimit: 1_000 };

/** The messages of the SDK and those of the contract have the same form as JSON. */
interface Codec<Message> {
  toJSON(message: Message): unknown;
  fromJSON(json: unknown): Message;
}

/**
 * Calls an agent through gRPC. The transport of the SDK cannot check to which address it connects, and does not limit what an agent sends.
 */
export class GrpcTransport implements Transport {
  readonly protocolName = "GRPC";
  readonly protocolVersion = A2A_PROTOCOL_VERSION;
  readonly #origin: string;
  readonly #token: string | undefined;
  readonly #calls: RpcTransport;

  /** `token` is sent as bearer token with each call. Undefined: none is. */
  constructor(session: GrpcSession, token: string | undefined) {
    const { authority: baseUrl } = session;
    this.#origin = baseUrl;
    this.#token = token;
    this.#calls = createTransport({
      baseUrl,
      httpClient: boundedClient(session),
      useBinaryFormat: true,
      binaryOptions,
      interceptors: [],
      acceptCompression: [],
      sendCompression: null,
      compressMinBytes: 0,
      readMaxBytes: maxBytes,
      writeMaxBytes: maxBytes,
    });
  }

  async sendMessage(request: SendMessageRequest, options?: RequestOptions) {
    const { sendMessage } = A2AService.method;
    const codecs = [SendMessageRequest, SendMessageResponse] as const;
    const { payload } = await this.#call(sendMessage, codecs, request, options);
    if (payload !== undefined) return payload.value;
    const message = `the remote agent at ${this.#origin} answers neither a task nor a message`;
    throw new ModelFailure("malformed", message, { retryable: false });
  }

  sendMessageStream(request: SendMessageRequest, options?: RequestOptions) {
    const { sendStreamingMessage } = A2AService.method;
    return this.#stream(sendStreamingMessage, SendMessageRequest, request, options);
  }

  resubscribeTask(request: SubscribeToTaskRequest, options?: RequestOptions) {
    const { subscribeToTask } = A2AService.method;
    return this.#stream(subscribeToTask, SubscribeToTaskRequest, request, options);
  }

  async getTask(request: GetTaskRequest, options?: RequestOptions) {
    return await this.#call(A2AService.method.getTask, [GetTaskRequest, Task], request, options);
  }

  async cancelTask(request: CancelTaskRequest, options?: RequestOptions) {
    const { cancelTask } = A2AService.method;
    return await this.#call(cancelTask, [CancelTaskRequest, Task], request, options);
  }

  async listTasks(request: ListTasksRequest, options?: RequestOptions) {
    const { listTasks } = A2AService.method;
    return await this.#call(listTasks, [ListTasksRequest, ListTasksResponse], request, options);
  }

  async getExtendedAgentCard(request: GetExtendedAgentCardRequest, options?: RequestOptions) {
    const { getExtendedAgentCard } = A2AService.method;
    const codecs = [GetExtendedAgentCardRequest, AgentCard] as const;
    return await this.#call(getExtendedAgentCard, codecs, request, options);
  }

  async createTaskPushNotificationConfig(
    request: TaskPushNotificationConfig,
    options?: RequestOptions,
  ) {
    const { createTaskPushNotificationConfig: method } = A2AService.method;
    const codecs = [TaskPushNotificationConfig, TaskPushNotificationConfig] as const;
    return await this.#call(method, codecs, request, options);
  }

  async getTaskPushNotificationConfig(
    request: GetTaskPushNotificationConfigRequest,
    options?: RequestOptions,
  ) {
    const { getTaskPushNotificationConfig: method } = A2AService.method;
    const codecs = [GetTaskPushNotificationConfigRequest, TaskPushNotificationConfig] as const;
    return await this.#call(method, codecs, request, options);
  }

  async listTaskPushNotificationConfig(
    request: ListTaskPushNotificationConfigsRequest,
    options?: RequestOptions,
  ) {
    const { listTaskPushNotificationConfigs: method } = A2AService.method;
    const codecs = [
      ListTaskPushNotificationConfigsRequest,
      ListTaskPushNotificationConfigsResponse,
    ] as const;
    return await this.#call(method, codecs, request, options);
  }

  async deleteTaskPushNotificationConfig(
    request: DeleteTaskPushNotificationConfigRequest,
    options?: RequestOptions,
  ): Promise<void> {
    const { deleteTaskPushNotificationConfig: method } = A2AService.method;
    const nothing = { toJSON: () => ({}), fromJSON: () => undefined };
    const codecs = [DeleteTaskPushNotificationConfigRequest, nothing] as const;
    await this.#call(method, codecs, request, options);
  }

  async #call<Request, Response>(
    method: DescMethodUnary,
    [sent, received]: readonly [Codec<Request>, Codec<Response>],
    request: Request,
    { signal, serviceParameters }: RequestOptions = {},
  ): Promise<Response> {
    try {
      const input = inputOf(method.input, sent, request);
      const headers = this.#headers(serviceParameters);
      const { message } = await this.#calls.unary(method, signal, undefined, headers, input);
      return received.fromJSON(toJson(method.output, message));
    } catch (error) {
      signal?.throwIfAborted();
      throw grpcFailure(error, this.#origin);
    }
  }

  async *#stream<Request>(
    method: DescMethodServerStreaming,
    sent: Codec<Request>,
    request: Request,
    { signal, serviceParameters }: RequestOptions = {},
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const left = new AbortController();
    const until = AbortSignal.any([left.signal, ...(signal === undefined ? [] : [signal])]);
    try {
      const input = once(inputOf(method.input, sent, request));
      const headers = this.#headers(serviceParameters);
      const answer = await this.#calls.stream(method, until, undefined, headers, input);
      for await (const message of answer.message) {
        yield StreamResponse.fromJSON(toJson(method.output, message));
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw grpcFailure(error, this.#origin);
    } finally {
      // Ends the call of a caller that reads no further.
      left.abort();
    }
  }

  #headers(serviceParameters: RequestOptions["serviceParameters"] = {}): Headers {
    const headers = new Headers(Object.entries(serviceParameters));
    if (this.#token !== undefined) headers.set("authorization", `Bearer ${this.#token}`);
    return headers;
  }
}

function inputOf<Request>(schema: DescMessage, sent: Codec<Request>, request: Request) {
  // The SDK renders JSON.
  return fromJson(schema, sent.toJSON(request) as JsonValue);
}

async function* once<Message>(message: Message): AsyncIterable<Message> {
  yield await Promise.resolve(message);
}
