import {
  A2A_VERSION_HEADER,
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
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
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import type { DescMessage, JsonValue, MessageShape } from "@bufbuild/protobuf";
import { fromJson, toJson } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { A2AService } from "@reeve/contracts/a2a-protocol";
import * as wire from "@reeve/contracts/a2a-protocol";
import { assertVersion } from "../http/json-rpc.ts";
import type { RequestHandler } from "../request-handler.ts";

/** Opens the agent with an id for the caller of a request. */
export type OpenAgent = (agentId: string, context: HandlerContext) => Promise<RequestHandler>;

/** The messages of the SDK and those of the contract have the same form as JSON. */
interface Codec<Message> {
  toJSON(message: Message): unknown;
  fromJSON(json: unknown): Message;
}

/** Returns the operations of A2A as methods of gRPC. The tenant of a request names the agent. */
export function grpcService(openAgent: OpenAgent): ServiceImpl<typeof A2AService> {
  const opened = (tenant: string, context: HandlerContext) => {
    assertVersion(context.requestHeader.get(A2A_VERSION_HEADER) ?? undefined);
    return openAgent(tenant, context);
  };
  return {
    async sendMessage(request, context) {
      const handler = await opened(request.tenant, context);
      const sent = read(wire.SendMessageRequestSchema, SendMessageRequest, request);
      const value = await handler.sendMessage(sent);
      const answer = { payload: { $case: "task", value } } as const;
      return rendered(wire.SendMessageResponseSchema, SendMessageResponse, answer);
    },
    async *sendStreamingMessage(request, context) {
      const handler = await opened(request.tenant, context);
      const sent = read(wire.SendMessageRequestSchema, SendMessageRequest, request);
      yield* events(handler.sendMessageStream(sent));
    },
    async getTask(request, context) {
      const handler = await opened(request.tenant, context);
      const task = await handler.getTask(read(wire.GetTaskRequestSchema, GetTaskRequest, request));
      return rendered(wire.TaskSchema, Task, task);
    },
    async listTasks(request, context) {
      const handler = await opened(request.tenant, context);
      const page = await handler.listTasks(
        read(wire.ListTasksRequestSchema, ListTasksRequest, request),
      );
      return rendered(wire.ListTasksResponseSchema, ListTasksResponse, page);
    },
    async cancelTask(request, context) {
      const handler = await opened(request.tenant, context);
      const asked = read(wire.CancelTaskRequestSchema, CancelTaskRequest, request);
      return rendered(wire.TaskSchema, Task, await handler.cancelTask(asked));
    },
    async *subscribeToTask(request, context) {
      const handler = await opened(request.tenant, context);
      const asked = read(wire.SubscribeToTaskRequestSchema, SubscribeToTaskRequest, request);
      yield* events(handler.resubscribe(asked));
    },
    async createTaskPushNotificationConfig(request, context) {
      const handler = await opened(request.tenant, context);
      const schema = wire.TaskPushNotificationConfigSchema;
      const given = read(schema, TaskPushNotificationConfig, request);
      const created = await handler.createTaskPushNotificationConfig(given);
      return rendered(schema, TaskPushNotificationConfig, created);
    },
    async getTaskPushNotificationConfig(request, context) {
      const handler = await opened(request.tenant, context);
      const schema = wire.GetTaskPushNotificationConfigRequestSchema;
      const asked = read(schema, GetTaskPushNotificationConfigRequest, request);
      const found = await handler.getTaskPushNotificationConfig(asked);
      return rendered(wire.TaskPushNotificationConfigSchema, TaskPushNotificationConfig, found);
    },
    async listTaskPushNotificationConfigs(request, context) {
      const handler = await opened(request.tenant, context);
      const schema = wire.ListTaskPushNotificationConfigsRequestSchema;
      const asked = read(schema, ListTaskPushNotificationConfigsRequest, request);
      const page = await handler.listTaskPushNotificationConfigs(asked);
      const answer = wire.ListTaskPushNotificationConfigsResponseSchema;
      return rendered(answer, ListTaskPushNotificationConfigsResponse, page);
    },
    async deleteTaskPushNotificationConfig(request, context) {
      const handler = await opened(request.tenant, context);
      const schema = wire.DeleteTaskPushNotificationConfigRequestSchema;
      const asked = read(schema, DeleteTaskPushNotificationConfigRequest, request);
      await handler.deleteTaskPushNotificationConfig(asked);
      return {};
    },
    async getExtendedAgentCard({ tenant }, context) {
      const handler = await opened(tenant, context);
      const card = await handler.getAuthenticatedExtendedAgentCard();
      return rendered(wire.AgentCardSchema, AgentCard, card);
    },
  };
}

async function* events(stream: AsyncIterable<StreamResponse>) {
  for await (const event of stream) {
    yield rendered(wire.StreamResponseSchema, StreamResponse, event);
  }
}

function read<Schema extends DescMessage, Message>(
  schema: Schema,
  codec: Codec<Message>,
  request: MessageShape<Schema>,
): Message {
  try {
    return codec.fromJSON(toJson(schema, request));
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    const message = `the request has no form in JSON: ${problem.slice(0, 500)}`;
    throw new RequestMalformedError({ message, cause });
  }
}

function rendered<Schema extends DescMessage, Message>(
  schema: Schema,
  codec: Codec<Message>,
  message: Message,
): MessageShape<Schema> {
  // The SDK renders JSON.
  return fromJson(schema, codec.toJSON(message) as JsonValue);
}
