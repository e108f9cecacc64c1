import type { ModelRegistry, ProviderSpec } from "@reeve/contracts/agent";
import { ModelRegistrySchema, ProviderSpecSchema } from "@reeve/contracts/agent";
import { bucketOf } from "@reeve/contracts/channel";
import { equals } from "@bufbuild/protobuf";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { LaterTable } from "@reeve/jetstream/table/later-table";
import { openTable } from "@reeve/jetstream/table/nats";
import { openOptionalView } from "@reeve/jetstream/table/optional-view";
import type { Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Logger } from "@reeve/platform/telemetry/logger";

const key = bucketOf(ModelRegistrySchema).key({ deployment: "default" });

/** The models and providers that are stored through the API, as this runtime knows them. */
export class StoredModels {
  readonly #table: Pick<Table<ModelRegistry>, "get">;
  readonly #view: () => readonly ModelRegistry[];
  /** What was read before the view had it. */
  #read: ModelRegistry | undefined;
  readonly #canRead: () => boolean;
  readonly #log: Pick<Logger, "warn">;
  readonly #opened = new Map<string, OpenedProvider>();

  private constructor(
    { table, log, canRead = () => true }: StoredModelsOptions,
    view: () => readonly ModelRegistry[],
  ) {
    this.#table = table;
    this.#log = log;
    this.#canRead = canRead;
    this.#view = view;
  }

  /** Opens them on NATS. They follow the store until `signal` aborts. */
  static async open(nats: Nats, log: Pick<Logger, "warn">, signal: AbortSignal) {
    // The table may be missing, or closed to this runtime, while a deployment changes to this version.
    let isOpen = false;
    const table = new LaterTable(bucketOf(ModelRegistrySchema).name, async () => {
      const opened = await openTable(nats, ModelRegistrySchema, { usesReserve: false });
      isOpen = true;
      return opened;
    });
    return await StoredModels.of({ table, log, canRead: () => isOpen }, signal);
  }

  /** As `open`, with a table. */
  static async of(options: StoredModelsOptions, signal: AbortSignal): Promise<StoredModels> {
    const view = await openOptionalView(options.table, options.log, signal);
    return new StoredModels(options, view);
  }

  /** What is stored, as of a moment ago. Undefined: nothing ever was. */
  get registry(): ModelRegistry | undefined {
    const [watched] = this.#view();
    const read = this.#read;
    if (read === undefined) return watched;
    if (watched === undefined || watched.revision < read.revision) return read;
    this.#read = undefined;
    return watched;
  }

  /**
   * Reads what was stored before the call. Returns false while the table is missing, or closed to this runtime: what is known stays. Throws
   * a Failure of kind `unavailable` if a table that was open does not answer.
   */
  async refresh(signal: AbortSignal): Promise<boolean> {
    try {
      const row = await this.#table.get(key, signal);
      if (row !== undefined) this.#read = row.record;
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Failure) || this.#canRead()) throw error;
      this.#log.warn({ err: error }, "stored models cannot be read");
      return false;
    }
  }

  /** Returns a stored provider, opened once for each version of it. Undefined: none has the name. */
  provider(name: string, open: (spec: ProviderSpec) => ModelProvider): ModelProvider | undefined {
    const spec = this.registry?.providers.find((each) => each.spec?.providerId === name)?.spec;
    if (spec === undefined) {
      this.#opened.delete(name);
      return undefined;
    }
    const opened = this.#opened.get(name);
    if (opened !== undefined && equals(ProviderSpecSchema, opened.spec, spec)) {
      return opened.provider;
    }
    const provider = open(spec);
    this.#opened.set(name, { spec, provider });
    return provider;
  }
}

interface StoredModelsOptions {
  readonly table: Pick<Table<ModelRegistry>, "get" | "watch">;
  readonly log: Pick<Logger, "warn">;
  /** Whether the table was ever open. Default: it is. */
  readonly canRead?: () => boolean;
}

interface OpenedProvider {
  readonly spec: ProviderSpec;
  readonly provider: ModelProvider;
}
