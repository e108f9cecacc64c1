import type { ServiceImpl } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import type { WorkspaceService } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { principalOf } from "@reeve/platform/rpc/principal";
import type { FilesPorts } from "../app/workspace-files.ts";
import { listFiles, readFile, writeFile } from "../app/workspace-files.ts";

const defaultPageSize = 100;
const maxPageSize = 1_000;

/** Returns the handlers of WorkspaceService. */
export function workspaceService(ports: FilesPorts): ServiceImpl<typeof WorkspaceService> {
  return {
    listFiles: async ({ runId, path, recursive, pageSize, pageToken }, context) => {
      const { tenant } = principalOf(context);
      if (!/^([0-9a-f]{2})*$/.test(pageToken)) throw invalidPageToken();
      const maxEntries = Math.min(pageSize || defaultPageSize, maxPageSize);
      const list = { path, recursive, maxEntries, after: pageToken };
      const found = await listFiles(ports, { tenant, runId }, list, context.signal);
      return { entries: found.entries, nextPageToken: found.next };
    },
    readFile: (request, context) =>
      readFile(ports, principalOf(context).tenant, request, context.signal),
    writeFile: async ({ runId, path, source }, context) => {
      const { tenant } = principalOf(context);
      const sizeBytes = await writeFile(ports, { tenant, runId }, { path, source }, context.signal);
      return { sizeBytes };
    },
  };
}

function invalidPageToken(): Failure {
  const message = "page_token is invalid; use the next_page_token of the previous response";
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
}
