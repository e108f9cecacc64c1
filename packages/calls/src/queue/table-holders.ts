import { create } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import type { WorkspaceRecord } from "@reeve/contracts/tool";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Table } from "@reeve/jetstream/table/port";
import type { WorkspaceHolders, WorkspaceKey } from "../ports/routing.ts";

const maxAttempts = 10;
const { key: keyOf } = bucketOf(WorkspaceRecordSchema);

/**
 * Who has the files of runs, in a table. Of a record that is there it changes the holder alone, and none of a host that has
 * files: who takes those has to ask for them.
 */
export class TableHolders implements WorkspaceHolders {
  readonly #table: Table<WorkspaceRecord>;

  constructor(table: Table<WorkspaceRecord>) {
    this.#table = table;
  }

  async holderOf({ tenant, id }: WorkspaceKey, signal: AbortSignal): Promise<string | undefined> {
    const row = await this.#table.get(keyOf({ tenant, workspace: id }), signal);
    return row?.record.holder || undefined;
  }

  async hold(
    { tenant, id }: WorkspaceKey,
    { host, instead }: { readonly host: string; readonly instead: string | undefined },
    signal: AbortSignal,
  ): Promise<string> {
    const key = keyOf({ tenant, workspace: id });
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const row = await this.#table.get(key, signal);
      const holder = row?.record.holder || undefined;
      const hasFiles = row !== undefined && row.record.place !== "";
      if (holder !== undefined && (holder !== instead || hasFiles)) return holder;
      const record = {
        ...(row?.record ?? create(WorkspaceRecordSchema, { tenant, id })),
        holder: host,
      };
      const written =
        row === undefined
          ? await this.#table.create(key, record, signal)
          : await this.#table.update(key, record, row.revision, signal);
      if (written !== undefined) return host;
    }
    throw new Failure(
      "unavailable",
      ErrorReason.UNAVAILABLE,
      `workspace ${id} changes hands at the moment; the call is tried again`,
    );
  }
}
