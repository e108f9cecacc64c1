import type {
  GetDeploymentResponse,
  ListCredentialsResponse,
  ModelActivity,
  QuotaLimit,
} from "#contracts/operations";
import type { CallOptions } from "./call-options.ts";
import type { Requests } from "./requests.ts";

/** What a deployment does, and what the tenant uses of it. */
export class Operations {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Returns the state of the deployment: workers, toolhosts, queues, and the store. Only its operators may see it. */
  async getDeployment(options: CallOptions = {}): Promise<GetDeploymentResponse> {
    return await this.#requests.repeatable(
      ({ operations }, call) => operations.getDeployment({}, call),
      options,
    );
  }

  /** Returns the model calls of the last hour: of the tenant, or with `allTenants` of all, for the operators of the deployment. */
  async listModelActivity(
    options: CallOptions & { readonly allTenants?: boolean } = {},
  ): Promise<readonly ModelActivity[]> {
    const { allTenants = false } = options;
    const { models } = await this.#requests.repeatable(
      ({ operations }, call) => operations.listModelActivity({ allTenants }, call),
      options,
    );
    return models;
  }

  /** Returns the operator's limits that apply to this client, and what is used of each. */
  async listQuotas(options: CallOptions = {}): Promise<readonly QuotaLimit[]> {
    const { limits } = await this.#requests.repeatable(
      ({ operations }, call) => operations.listQuotas({}, call),
      options,
    );
    return limits;
  }

  /** Returns the tokens and certificates of the tenant, without their secrets. Needs the role `operator`. */
  async listCredentials(options: CallOptions = {}): Promise<ListCredentialsResponse> {
    return await this.#requests.repeatable(
      ({ operations }, call) => operations.listCredentials({}, call),
      options,
    );
  }
}
