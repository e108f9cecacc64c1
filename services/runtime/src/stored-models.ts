import type { ModelRegistry, ProviderSpec } from "@reeve/contracts/agent";
import { ModelRegistrySchema, ProviderSpecSchema } from "@reeve/contracts/agent";
import { bucketOf } from "@reeve/contracts/channel";
import { equals } from "@bufbuild/protobuf";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { LaterTable } from "@reeve/jetstream/table/later-table";
import { openTable } from "@reeve/jetstream/table/nats";
import { openOptionalView } from "@reeve/jetstream/table/optional-view";
import type { Table } from "@reeve/jetstream/table/port";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Logger } from "@reeve/platform/telemetry/logger";

const key = bucketOf(ModelRegistrySchema).key({ deployment: "default" });

/** The models and providers that are stored through the API, as this runtime knows them. */
export class StoredModels {
  readonly #table: Pick<Table<ModelRegistry>, "get">;
  readonly #view: () => readonly ModelRegistry[];
  /** What was read before the view had it. */
  #read: ModelRegistry | undefined;
  readonly #opened = new Map<string, OpenedProvider>();

  private constructor(
    table: Pick<Table<ModelRegistry>, "get">,
    view: () => readonly ModelRegistry[],
  ) {
    this.#table = table;
    this.#view = view;
  }

  /** Opens them on NATS. They follow the store until `signal` aborts. */
  static async open(nats: Nats, log: Pick<Logger, "warn">, signal: AbortSignal) {
    // The table may be missing, or closed to this runtime, while a deployment changes to this version.
    const table = new LaterTable(bucketOf(ModelRegistrySchema).name, () =>
      openTable(nats, ModelRegistrySchema, { usesReserve: false }),
    );
    return await StoredModels.of(table, log, signal);
  }

  /** As `open`, with a table. */
  static async of(
    table: Pick<Table<ModelRegistry>, "get" | "watch">,
    log: Pick<Logger, "warn">,
    signal: AbortSignal,
  ): Promise<StoredModels> {
    return new StoredModels(table, await openOptionalView(table, log, signal));
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

  /** Reads what was stored before the call. If it cannot be read, what is known stays. */
  async refresh(signal: AbortSignal): Promise<void> {
    const row = await this.#table.get(key, signal);
    if (row !== undefined) this.#read = row.record;
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

interface OpenedProvider {
  readonly spec: ProviderSpec;
  readonly provider: ModelProvider;
}
