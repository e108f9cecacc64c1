import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type {
  ApplyModelRegistryRequestSchema,
  ApplyModelRegistryResponse,
  GetModelRegistryResponse,
  ModelSpecSchema,
  ProviderSpecSchema,
  StoredModel,
  StoredProvider,
} from "#contracts/agent";
import { StoredModelSchema, StoredProviderSchema } from "#contracts/agent";
import type { CallOptions } from "../call-options.ts";
import type { Requests } from "../requests.ts";

export interface SeenEntry extends CallOptions {
  /** The revision of the entry that the caller has seen. Default: any. */
  readonly revision?: bigint;
}

/** The models and providers of the deployment that are stored through the API. Only operators of the deployment may use them. */
export class Models {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Returns the stored models and providers, and what stored providers may use. */
  async registry(options: CallOptions = {}): Promise<GetModelRegistryResponse> {
    return await this.#requests.repeatable(
      ({ models }, call) => models.getModelRegistry({}, call),
      options,
    );
  }

  /** Stores a model, or replaces the one with its id. */
  async put(
    model: MessageInitShape<typeof ModelSpecSchema>,
    { revision = 0n, ...options }: SeenEntry = {},
  ): Promise<StoredModel> {
    const { model: stored } = await this.#requests.once(
      ({ models }, call) => models.putModel({ model, revision }, call),
      options,
    );
    return stored ?? create(StoredModelSchema);
  }

  /** Deletes a model. Not repeated if the connection breaks. */
  async delete(modelId: string, { revision = 0n, ...options }: SeenEntry = {}): Promise<void> {
    await this.#requests.once(
      ({ models }, call) => models.deleteModel({ modelId, revision }, call),
      options,
    );
  }

  /** Stores a provider, or replaces the one with its id. */
  async putProvider(
    provider: MessageInitShape<typeof ProviderSpecSchema>,
    { revision = 0n, ...options }: SeenEntry = {},
  ): Promise<StoredProvider> {
    const { provider: stored } = await this.#requests.once(
      ({ models }, call) => models.putProvider({ provider, revision }, call),
      options,
    );
    return stored ?? create(StoredProviderSchema);
  }

  /** Deletes a provider. Not repeated if the connection breaks. */
  async deleteProvider(
    providerId: string,
    { revision = 0n, ...options }: SeenEntry = {},
  ): Promise<void> {
    await this.#requests.once(
      ({ models }, call) => models.deleteProvider({ providerId, revision }, call),
      options,
    );
  }

  /** Stores several models and providers, all or nothing. With `prune`, deletes all others. */
  async apply(
    request: MessageInitShape<typeof ApplyModelRegistryRequestSchema>,
    options: CallOptions = {},
  ): Promise<ApplyModelRegistryResponse> {
    return await this.#requests.once(
      ({ models }, call) => models.applyModelRegistry(request, call),
      options,
    );
  }
}
