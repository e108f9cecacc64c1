import type { ServiceImpl } from "@connectrpc/connect";
import type { ThreadService } from "@reeve/contracts/thread";
import { threadWorkspaceId } from "@reeve/contracts/rules/workspace-id";
import { noteEffect } from "@reeve/platform/rpc/outcome/call-effect";
import { principalOf } from "@reeve/platform/rpc/principal";
import { deleteThread } from "@reeve/run/thread/delete-thread";
import { deleteArtifactsOfThread } from "../app/delete/delete-artifacts.ts";
import { deleteWorkspace } from "../app/delete/delete-workspace.ts";
import type { GatewayPorts } from "../app/gateway-ports.ts";
import { listThreads } from "../app/threads/list-threads.ts";
import { getThread } from "../app/threads/get-thread.ts";
import { listThreadMessages } from "../app/threads/list-thread-messages.ts";

/** Returns the handlers of ThreadService. */
export function threadService(
  ports: Pick<
    GatewayPorts,
    | "threads"
    | "threadLists"
    | "log"
    | "logEnds"
    | "journal"
    | "dispatch"
    | "workspaces"
    | "artifacts"
  >,
): ServiceImpl<typeof ThreadService> {
  return {
    getThread: async ({ threadId }, context) => {
      const key = { tenant: principalOf(context).tenant, thread: threadId };
      return { thread: await getThread(ports, key, context.signal) };
    },
    listThreads: async (request, context) => {
      const { tenant } = principalOf(context);
      const { threadLists } = ports;
      const { items, nextPageToken } = await listThreads(
        threadLists,
        tenant,
        request,
        context.signal,
      );
      return { threads: [...items], nextPageToken };
    },
    listThreadMessages: async (request, context) => {
      const key = { tenant: principalOf(context).tenant, thread: request.threadId };
      const { items, nextPageToken } = await listThreadMessages(
        ports,
        key,
        request,
        context.signal,
      );
      return { messages: [...items], nextPageToken };
    },
    deleteThread: async ({ threadId }, context) => {
      const { tenant, subject } = principalOf(context);
      await deleteThread(ports, { tenant, thread: threadId }, subject, context.signal);
      noteEffect(context);
      await deleteArtifactsOfThread(ports, { tenant, thread: threadId }, context.signal);
      const id = threadWorkspaceId(threadId);
      await deleteWorkspace(ports.workspaces, { tenant, id }, context.signal);
      return {};
    },
  };
}
