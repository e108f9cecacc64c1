import { create } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import type { WorkspaceRecord } from "@reeve/contracts/tool";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { changeRow } from "@reeve/jetstream/table/change-row";
import type { Table } from "@reeve/jetstream/table/port";
import type { WorkspaceHolders } from "../ports/routing.ts";
import type { WorkspaceKey } from "../ports/workspaces.ts";

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
    const row = { key: keyOf({ tenant, workspace: id }), name: `the record of workspace ${id}` };
    let holder = host;
    await changeRow(
      this.#table,
      row,
      (now) => {
        const current = now?.holder || undefined;
        const hasFiles = now !== undefined && now.place !== "";
        const isKept = current !== undefined && (current !== instead || hasFiles);
        holder = isKept ? current : host;
        if (isKept) return undefined;
        return { ...(now ?? create(WorkspaceRecordSchema, { tenant, id })), holder };
      },
      signal,
    );
    return holder;
  }
}
