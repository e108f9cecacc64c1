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
import {
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

/** The push notification configurations of an agent's tasks, for one caller. Each needs a task that the caller may read, and changes need the role `runner`. */
export class PushOperations {
  readonly #agent: PushingAgent;

  constructor(agent: PushingAgent) {
    this.#agent = agent;
  }

  /** Throws if a configuration would be refused, whatever its task is. */
  async assertAcceptable(given: TaskPushNotificationConfig): Promise<void> {
    const ports = this.#ports();
    await this.#runner();
    checkedReceiver(ports, given);
  }

  async create(given: TaskPushNotificationConfig): Promise<TaskPushNotificationConfig> {
    const ports = this.#ports();
    const { agentId, signal } = this.#agent;
    const tenant = await this.#runner();
    const runId = await this.#read(given.taskId);
    return await createConfig(ports, { tenant, runId, agentId }, given, signal);
  }

  async get(taskId: string, id: string): Promise<TaskPushNotificationConfig> {
    const ports = this.#ports();
    const task = { tenant: (await this.#caller()).tenant, runId: await this.#read(taskId) };
    return await getConfig(ports, task, id, this.#agent.signal);
  }

  /** Returns all configurations: a task has few. */
  async list(taskId: string): Promise<ListTaskPushNotificationConfigsResponse> {
    const ports = this.#ports();
    const task = { tenant: (await this.#caller()).tenant, runId: await this.#read(taskId) };
    return { configs: await listConfigs(ports, task, this.#agent.signal), nextPageToken: "" };
  }

  async delete(taskId: string, id: string): Promise<void> {
    const ports = this.#ports();
    const tenant = await this.#runner();
    const task = { tenant, runId: await this.#read(taskId) };
    await deleteConfig(ports, task, id, this.#agent.signal);
  }

  #ports(): PushPorts {
    const { pushes } = this.#agent;
    if (pushes !== undefined) return pushes;
    const message =
      "this gateway sends no push notifications; stream the task, read it again, or ask the operator to set REEVE_A2A_PUSH";
    throw new PushNotificationNotSupportedError({ message });
  }

  async #read(taskId: string): Promise<string> {
    const { api, signal } = this.#agent;
    return (await runOfTask(api, this.#agent, taskId, signal)).runId;
  }

  async #caller() {
    const { api, signal } = this.#agent;
    return await api.identity.getCaller({}, { signal });
  }

  /** Returns the tenant of the caller. Throws if the caller may only read. */
  async #runner(): Promise<string> {
    const { tenant, roles } = await this.#caller();
    if (roles.includes(Role.RUNNER)) return tenant;
    const message = "push notification configurations need the role runner; ask an operator for it";
    throw new Failure("denied", ErrorReason.PERMISSION_DENIED, message);
  }
}
