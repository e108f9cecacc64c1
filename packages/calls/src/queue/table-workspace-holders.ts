import { create } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { WorkspaceRecord } from "@reeve/contracts/tool";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";
import type { Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";
import type { WorkspaceHolders } from "../ports/routing.ts";
import type { WorkspaceKey } from "../ports/workspaces.ts";

const maxAttempts = 10;
const { key: keyOf } = bucketOf(WorkspaceRecordSchema);

/**
 * The holders of workspaces, in the table of workspace records. Changes nothing of a record but its holder, and never the holder
 * of a workspace that has files: a host that takes those has to request them.
 */
export class TableWorkspaceHolders implements WorkspaceHolders {
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
      `the record of workspace ${id} changed ${maxAttempts} times meanwhile; the call is tried again`,
    );
  }
}
