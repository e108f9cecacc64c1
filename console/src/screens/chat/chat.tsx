import { useQuery } from "@connectrpc/connect-query";
import { ThreadService } from "@reeve/contracts/thread";
import { RunService } from "@reeve/contracts/run";
import { Code, ConnectError } from "@connectrpc/connect";
import { problemOf } from "../../api/problem.ts";
import { Empty } from "../../ui/empty.tsx";
import { Permitted } from "../../access/permitted.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { ChatComposer } from "./chat-composer.tsx";
import { Turns } from "./turns.tsx";

interface ChatProps {
  /** Undefined: a new thread. */
  readonly threadId: string | undefined;
  readonly agentId: string | undefined;
  /** The workflow that the conversation edits. Empty: a new one. Undefined: none. */
  readonly workflowId: string | undefined;
}

/** The turns of a thread: those that ended as they are stored, and the active one live. */
export function Chat({ threadId = "", agentId, workflowId }: ChatProps) {
  const isNew = threadId === "";
  const thread = useQuery(
    ThreadService.method.getThread,
    { threadId },
    { enabled: !isNew, refetchInterval: 1_500 },
  );
  const last = useQuery(RunService.method.listRuns, { threadId, pageSize: 1 }, { enabled: !isNew })
    .data?.runs[0];
  const active = thread.data?.thread?.activeRunId ?? "";
  const turns = thread.data?.thread?.endedTurns ?? 0;
  const isMissing = thread.error !== null && ConnectError.from(thread.error).code === Code.NotFound;
  return (
    <div className="conversation chat">
      {isNew && workflowId !== undefined && (
        <Empty title="Plan a workflow">
          Choose an agent and write what the workflow is to do. The agent plans a graph with its
          tools and delegates. Nothing is stored before you apply it.
        </Empty>
      )}
      {isNew && workflowId === undefined && (
        <Empty title="Start a conversation">
          Choose an agent and write a message. Each message is a run, and each run is a turn of the
          thread.
        </Empty>
      )}
      {thread.error !== null && !isMissing && <ProblemView problem={problemOf(thread.error)} />}
      {isMissing && <Empty title="There is no such thread">It may have been deleted.</Empty>}
      {!isNew && !isMissing && <Turns threadId={threadId} turns={turns} activeRunId={active} />}
      <Permitted method={RunService.method.startRun} action="Sending a message">
        <ChatComposer
          threadId={threadId}
          agentId={agentId ?? last?.agentId}
          workflowId={workflowId}
          activeRunId={active}
          onStarted={() => {
            if (!isNew) void thread.refetch();
          }}
        />
      </Permitted>
    </div>
  );
}
