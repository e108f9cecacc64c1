import type { WorkspaceRecord } from "@reeve/contracts/tool";
import { isTenantKeyDeleted } from "@reeve/jetstream/sealing/key-failures";
import type { WorkspacePorts } from "./workspace-ports.ts";

/**
 * Reads the records of one tenant at a time. A list of all tenants leaves out those whose records cannot be read, so it does not
 * prove that nothing refers to a file.
 */
export class ReadableTenants {
  readonly #ports: Pick<WorkspacePorts, "records" | "isTenantDeleted" | "log">;
  readonly #signal: AbortSignal;
  readonly #read = new Map<string, Promise<readonly WorkspaceRecord[] | undefined>>();

  constructor(
    ports: Pick<WorkspacePorts, "records" | "isTenantDeleted" | "log">,
    signal: AbortSignal,
  ) {
    this.#ports = ports;
    this.#signal = signal;
  }

  /**
   * Returns all records of a tenant, and none of one that was deleted for good. Undefined: they cannot be read, so nothing of the
   * tenant may be deleted.
   */
  records(tenant: string): Promise<readonly WorkspaceRecord[] | undefined> {
    const read = this.#read.get(tenant) ?? this.#list(tenant);
    this.#read.set(tenant, read);
    return read;
  }

  async #list(tenant: string): Promise<readonly WorkspaceRecord[] | undefined> {
    // The list of all tenants.
    if (tenant === "") return undefined;
    try {
      return (await this.#ports.records.list(tenant, this.#signal)).map(({ record }) => record);
    } catch (error) {
      this.#signal.throwIfAborted();
      if (isTenantKeyDeleted(error)) return await this.#afterDeletion(tenant);
      const kept = "records of workspaces cannot be read; keeping the files of the tenant";
      this.#ports.log.warn({ err: error, tenant }, kept);
      return undefined;
    }
  }

  /** A file of a deleted key may come back from a backup; what the store says about a tenant stays. */
  async #afterDeletion(tenant: string): Promise<readonly WorkspaceRecord[] | undefined> {
    try {
      return (await this.#ports.isTenantDeleted(tenant, this.#signal)) ? [] : undefined;
    } catch {
      this.#signal.throwIfAborted();
      // The next sweep asks again.
      return undefined;
    }
  }
}
