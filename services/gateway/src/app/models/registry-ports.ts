import type { ModelCatalog, ModelRegistry } from "@reeve/contracts/agent";
import type { Table } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";

/** What the methods of the registry of models work with. */
export interface RegistryPorts {
  readonly registry: Pick<Table<ModelRegistry>, "get" | "createFirst" | "update">;
  /** Returns what the runtimes have of their own. */
  localModels(): ModelCatalog;
  /** Throws a Failure while the store has only its reserve. */
  assertRoom(): void;
  readonly clock: Pick<Clock, "now">;
}
