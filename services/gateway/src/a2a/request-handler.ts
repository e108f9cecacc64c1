import type {
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
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import type { A2AError } from "@a2a-js/sdk/errors";
import {
  RequestMalformedError,
  TaskNotCancelableError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { a2aErrorOf } from "./a2a-error.ts";
import type { GatewayApi } from "./gateway-api.ts";
import { listTasks } from "./list-tasks.ts";
import { answerTask, isDelivered } from "./message/answer-task.ts";
import { assertUserMessage, startRequestOf, withStoredFiles } from "./message/read-message.ts";
import { renderTask } from "./task/render-task.ts";
import type { TaskView } from "./task/task-view.ts";
import { hasEnded, isSettled } from "./task/task-view.ts";
import { PushOperations } from "./push/push-operations.ts";
import type { PushPorts } from "./push/push-ports.ts";
import type { WatchedAgent } from "./watch-task.ts";
import { readTask, watchTask } from "./watch-task.ts";

/** The agent of a request, and how the gateway is called. */
export interface RequestedAgent extends WatchedAgent {
  readonly api: GatewayApi;
  readonly card: AgentCard;
  /** Undefined: no push notifications are sent. */
  readonly pushes: PushPorts | undefined;
  /** Returns the artifact that an address of this gateway names. Undefined: it is another address. */
  fileIdIn(url: string): string | undefined;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
}

/**
 * Handles the operations of A2A for one request to one agent. A task is a run, and a context is a thread. Nothing is kept here: each
 * operation is one or more calls of the API as the caller of the request, and the state of a task follows from the log of its run.
 */
export class RequestHandler implements A2ARequestHandler {
  readonly #agent: RequestedAgent;
  readonly #pushes: PushOperations;
  #refusal: A2AError | undefined;

  constructor(agent: RequestedAgent) {
    this.#agent = agent;
    this.#pushes = new PushOperations(agent);
  }

  /** Returns a handler of the same request that refuses push notifications, for clients that could not read them. */
  withoutPushes(): RequestHandler {
    return new RequestHandler({ ...this.#agent, pushes: undefined });
  }

  /** Why the request was refused. Undefined: it was not. */
  get refusal(): A2AError | undefined {
    return this.#refusal;
  }

  async getAgentCard(): Promise<AgentCard> {
    return await Promise.resolve(this.#agent.card);
  }

  async getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    const message = "the agent has no extended card: its card is for authenticated clients already";
    return await Promise.reject(new UnsupportedOperationError({ message }));
  }

  /** Waits until the task ends or needs input, unless the client asks to return at once. */
  async sendMessage({ message, configuration }: SendMessageRequest): Promise<Task> {
    return await this.#translated(async () => {
      const taskId = await this.#deliver(message, configuration);
      const isPatient = configuration?.returnImmediately !== true;
      let view: TaskView | undefined;
      for await (const change of this.#watch(taskId)) {
        ({ view } = change);
        if (!isPatient || isSettled(view)) break;
      }
      return renderTask(assertRead(view, taskId), configuration?.historyLength);
    });
  }

  async *sendMessageStream({
    message,
    configuration,
  }: SendMessageRequest): AsyncGenerator<StreamResponse, void, undefined> {
    try {
      const taskId = await this.#deliver(message, configuration);
      for await (const { view, updates } of this.#watch(taskId)) {
        yield* updates;
        if (isSettled(view)) return;
      }
    } catch (error) {
      throw this.#refused(error);
    }
  }

  /** A task that waits for input may continue by the answer of another client, so its stream stays open. */
  async *resubscribe({
    id,
  }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    try {
      let isFirst = true;
      for await (const { view, updates } of this.#watch(id)) {
        if (isFirst && hasEnded(view)) {
          const message = `task ${id} has ended; read it with GetTask`;
          throw new UnsupportedOperationError({ message });
        }
        yield* updates;
        if (hasEnded(view) || (!isFirst && isSettled(view))) return;
        isFirst = false;
      }
    } catch (error) {
      throw this.#refused(error);
    }
  }

  async getTask({ id, historyLength }: GetTaskRequest): Promise<Task> {
    return await this.#translated(async () => renderTask(await this.#read(id), historyLength));
  }

  async cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    return await this.#translated(async () => {
      const { api, signal } = this.#agent;
      const view = await this.#read(id);
      if (hasEnded(view)) {
        const message = `task ${id} has ended and cannot be canceled`;
        throw new TaskNotCancelableError({ message });
      }
      await api.runs.cancelRun({ runId: id, reason: "canceled through A2A" }, { signal });
      return renderTask(await this.#read(id), undefined);
    });
  }

  async listTasks(request: ListTasksRequest): Promise<ListTasksResponse> {
    const { api, agentId, signal } = this.#agent;
    return await this.#translated(() => listTasks(api, agentId, request, signal));
  }

  async createTaskPushNotificationConfig(
    given: TaskPushNotificationConfig,
  ): Promise<TaskPushNotificationConfig> {
    return await this.#translated(() => this.#pushes.create(given));
  }

  async getTaskPushNotificationConfig({
    taskId,
    id,
  }: GetTaskPushNotificationConfigRequest): Promise<TaskPushNotificationConfig> {
    return await this.#translated(() => this.#pushes.get(taskId, id));
  }

  async listTaskPushNotificationConfigs({
    taskId,
  }: ListTaskPushNotificationConfigsRequest): Promise<ListTaskPushNotificationConfigsResponse> {
    return await this.#translated(() => this.#pushes.list(taskId));
  }

  async deleteTaskPushNotificationConfig({
    taskId,
    id,
  }: DeleteTaskPushNotificationConfigRequest): Promise<void> {
    await this.#translated(() => this.#pushes.delete(taskId, id));
  }

  /** Starts a task with a message, or passes the message on to its task. Returns the id of the task. */
  async #deliver(
    sent: SendMessageRequest["message"],
    configuration: SendMessageRequest["configuration"],
  ): Promise<string> {
    const push = configuration?.taskPushNotificationConfig;
    // Before the task: a refused configuration starts none.
    if (push !== undefined) await this.#pushes.assertAcceptable(push, sent?.taskId ?? "");
    const taskId = await this.#pass(sent);
    if (push !== undefined) await this.#pushes.create({ ...push, taskId });
    return taskId;
  }

  async #pass(sent: SendMessageRequest["message"]): Promise<string> {
    const { api, agentId, fileIdIn, signal } = this.#agent;
    const message = withStoredFiles(assertUserMessage(sent), fileIdIn);
    if (message.taskId === "") {
      const { subject } = await api.identity.getCaller({}, { signal });
      const request = startRequestOf({ agentId, subject }, message);
      const { run } = await api.runs.startRun(request, { signal });
      return run?.runId ?? "";
    }
    const view = await this.#read(message.taskId);
    if (message.contextId !== "" && message.contextId !== view.contextId) {
      const text = `task ${view.taskId} belongs to context ${view.contextId}, not to ${message.contextId}`;
      throw new RequestMalformedError({ message: text });
    }
    // A client that lost the answer learns from the task that its message counted.
    if (isDelivered(view, message)) return view.taskId;
    if (hasEnded(view)) {
      const text = `task ${view.taskId} has ended; send the message without taskId to continue its context`;
      throw new UnsupportedOperationError({ message: text });
    }
    await answerTask(api, view, message, signal);
    return view.taskId;
  }

  async #translated<Result>(call: () => Promise<Result>): Promise<Result> {
    try {
      return await call();
    } catch (error) {
      throw this.#refused(error);
    }
  }

  #refused(error: unknown): A2AError {
    this.#refusal = a2aErrorOf(error);
    return this.#refusal;
  }

  #read(taskId: string): Promise<TaskView> {
    const { api, signal } = this.#agent;
    return readTask(api, this.#agent, taskId, signal);
  }

  #watch(taskId: string) {
    const { api, signal } = this.#agent;
    return watchTask(api, this.#agent, taskId, signal);
  }
}

function assertRead(view: TaskView | undefined, taskId: string): TaskView {
  if (view === undefined) throw new Error(`task ${taskId} was not read`);
  return view;
}
