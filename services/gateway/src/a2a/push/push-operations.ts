import type {
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import { PushNotificationNotSupportedError } from "@a2a-js/sdk/errors";
import { Role } from "@reeve/contracts/access/role";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { GatewayApi } from "../gateway-api.ts";
import type { WatchedAgent } from "../watch-task.ts";
import { runOfTask } from "../watch-task.ts";
import type { TaskChange } from "./push-configs.ts";
import {
  assertRoom,
  checkedReceiver,
  createConfig,
  deleteConfig,
  getConfig,
  listConfigs,
} from "./push-configs.ts";
import type { PushPorts } from "./push-ports.ts";

/** The agent whose tasks are notified of, and for whom. */
interface PushingAgent extends WatchedAgent {
  readonly api: GatewayApi;
  readonly pushes: PushPorts | undefined;
  readonly signal: AbortSignal;
}

/**
 * The push notification configurations of an agent's tasks, for one caller. Each operation needs a task that the caller may read, and the
 * role `runner`: an address may be a secret.
 */
export class PushOperations {
  readonly #agent: PushingAgent;

  constructor(agent: PushingAgent) {
    this.#agent = agent;
  }

  /**
   * Throws if a configuration would be refused for a message. `runId` is the task that the message continues. Empty: it starts one. Clients
   * repeat the configuration of a task with each message, which needs no room.
   */
  async assertAcceptable(given: TaskPushNotificationConfig, runId: string): Promise<void> {
    const ports = this.#ports();
    const { tenant } = await this.#runner();
    checkedReceiver(ports, given);
    const tasks = ports.known();
    const isRepeatable = tasks.some((each) => each.tenant === tenant && each.runId === runId);
    if (!isRepeatable) assertRoom(ports, tenant);
  }

  async create(given: TaskPushNotificationConfig): Promise<TaskPushNotificationConfig> {
    const ports = this.#ports();
    return await createConfig(ports, await this.#task(given.taskId), given, this.#agent.signal);
  }

  async get(taskId: string, id: string): Promise<TaskPushNotificationConfig> {
    const ports = this.#ports();
    return await getConfig(ports, await this.#task(taskId), id, this.#agent.signal);
  }

  /** Returns all configurations: a task has few. */
  async list(taskId: string): Promise<ListTaskPushNotificationConfigsResponse> {
    const ports = this.#ports();
    const configs = await listConfigs(ports, await this.#task(taskId), this.#agent.signal);
    return { configs, nextPageToken: "" };
  }

  async delete(taskId: string, id: string): Promise<void> {
    const ports = this.#ports();
    await deleteConfig(ports, await this.#task(taskId), id, this.#agent.signal);
  }

  #ports(): PushPorts {
    const { pushes } = this.#agent;
    if (pushes !== undefined) return pushes;
    const message =
      "this gateway sends no push notifications, or none in the version of A2A of this request; stream the task, read it again, or ask the operator to set REEVE_A2A_PUSH and use A2A 1.0";
    throw new PushNotificationNotSupportedError({ message });
  }

  /** Returns a task, and who changes its configurations. Throws if the caller may only read, or has no such task. */
  async #task(taskId: string): Promise<TaskChange> {
    const { api, agentId, signal } = this.#agent;
    const { tenant, subject, roles } = await this.#runner();
    const { runId } = await runOfTask(api, this.#agent, taskId, signal);
    return { tenant, runId, agentId, caller: { subject, roles } };
  }

  /** Returns the caller. Throws a Failure if the caller may only read. */
  async #runner() {
    const { api, signal } = this.#agent;
    const caller = await api.identity.getCaller({}, { signal });
    if (caller.roles.includes(Role.RUNNER)) return caller;
    const message = "push notification configurations need the role runner; ask an operator for it";
    throw new Failure("denied", ErrorReason.PERMISSION_DENIED, message);
  }
}
