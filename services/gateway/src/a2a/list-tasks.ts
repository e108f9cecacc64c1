import type { ListTasksRequest, ListTasksResponse } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import { RequestMalformedError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { RunStatus } from "@reeve/contracts/run";
import type { GatewayApi } from "./gateway-api.ts";
import { taskLabel } from "./message/read-message.ts";
import { renderRow } from "./task/render-task.ts";

const defaultPage = 50;
const maxPage = 100;

/** Returns a page of the tasks of an agent, the newest first, without their history and artifacts. */
export async function listTasks(
  api: GatewayApi,
  agentId: string,
  request: ListTasksRequest,
  signal: AbortSignal,
): Promise<ListTasksResponse> {
  const { contextId, pageToken, pageSize = defaultPage, status } = request;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > maxPage) {
    throw new RequestMalformedError({ message: `pageSize must be 1 to ${maxPage}` });
  }
  if (request.includeArtifacts === true || request.statusTimestampAfter) {
    const message =
      "includeArtifacts and statusTimestampAfter are not supported; read single tasks";
    throw new UnsupportedOperationError({ message });
  }
  const filter = {
    agentId,
    threadId: contextId,
    statuses: [...statusesOf(status)],
    labels: { [taskLabel]: "" },
  };
  const [page, counts] = await Promise.all([
    api.runs.listRuns({ filter, pageSize, pageToken }, { signal }),
    api.runs.countRuns({ filter }, { signal }),
  ]);
  const tasks = page.runs.map(renderRow);
  const isAny = status === TaskState.TASK_STATE_UNSPECIFIED;
  return {
    tasks: isAny ? tasks : tasks.filter((task) => task.status?.state === status),
    nextPageToken: page.nextPageToken,
    pageSize,
    totalSize: counts.statuses.reduce((sum, { count }) => sum + count, 0),
  };
}

/** Returns the statuses of runs whose tasks may have a state. None: all. */
function statusesOf(state: TaskState): readonly RunStatus[] {
  switch (state) {
    case TaskState.TASK_STATE_UNSPECIFIED:
      return [];
    case TaskState.TASK_STATE_SUBMITTED:
      return [RunStatus.QUEUED];
    case TaskState.TASK_STATE_WORKING:
      return [RunStatus.STARTING, RunStatus.RUNNING, RunStatus.WAITING];
    case TaskState.TASK_STATE_INPUT_REQUIRED:
      return [RunStatus.WAITING];
    case TaskState.TASK_STATE_COMPLETED:
      return [RunStatus.COMPLETED];
    case TaskState.TASK_STATE_FAILED:
      return [RunStatus.ERROR];
    case TaskState.TASK_STATE_CANCELED:
      return [RunStatus.CANCELLED];
    case TaskState.TASK_STATE_REJECTED:
    case TaskState.TASK_STATE_AUTH_REQUIRED:
    case TaskState.UNRECOGNIZED:
      throw new RequestMalformedError({ message: "no task of this agent has this state" });
  }
}
