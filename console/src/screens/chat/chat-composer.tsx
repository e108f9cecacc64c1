import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { AgentService } from "@reeve/contracts/agent";
import { OnBusy, RunService } from "@reeve/contracts/run";
import { useState } from "react";
import { problemOf } from "../../api/problem.ts";
import { requestIds } from "../../api/request-ids.ts";
import { Icon } from "../../ui/icons.tsx";
import { MessageBox } from "../../ui/message-box.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";

interface ChatComposerProps {
  /** Empty: the message creates a thread. */
  readonly threadId: string;
  /** The agent that answered last. */
  readonly agentId: string | undefined;
  /** Empty: no turn is active. */
  readonly activeRunId: string;
  readonly onStarted: () => void;
}

/** Starts the next turn of a thread. While a turn is active, the message is queued behind it, or the turn is stopped. */
export function ChatComposer(props: ChatComposerProps) {
  const { threadId, agentId, activeRunId, onStarted } = props;
  const navigate = useNavigate();
  const agents = useQuery(AgentService.method.listAgents, { pageSize: 1_000 }).data?.agents ?? [];
  const [chosen, setChosen] = useState<string | undefined>();
  const [text, setText] = useState("");
  const [ids] = useState(requestIds);
  const start = useMutation(RunService.method.startRun);
  const cancel = useMutation(RunService.method.cancelRun);
  const agent = chosen ?? agentId ?? agents[0]?.spec?.id ?? "";
  const onSend = () => {
    const requestId = ids.idFor(threadId, agent, text);
    const thread = threadId || `chat-${requestId.slice(0, 12)}`;
    start.mutate(
      {
        agentId: agent,
        input: text,
        threadId: thread,
        requestId,
        onBusy: OnBusy.QUEUE,
      },
      {
        onSuccess: () => {
          ids.answered();
          setText((now) => (now === text ? "" : now));
          onStarted();
          if (threadId !== "") return;
          void navigate({ to: "/chat/{-$threadId}", params: { threadId: thread }, search: {} });
        },
      },
    );
  };
  const error = start.error ?? cancel.error;
  return (
    <div className="composer">
      {error !== null && <ProblemView problem={problemOf(error)} />}
      <div className="row">
        <select
          className="input"
          aria-label="Agent"
          value={agent}
          onChange={(event) => setChosen(event.target.value)}
        >
          {agents.length === 0 && <option value="">No agent yet</option>}
          {agents.map(({ spec }) => (
            <option key={spec?.id}>{spec?.id}</option>
          ))}
        </select>
        {activeRunId !== "" && (
          <button
            type="button"
            className="button"
            disabled={cancel.isPending}
            onClick={() => cancel.mutate({ runId: activeRunId, reason: "stopped in the chat" })}
          >
            <Icon name="stop" />
            Stop
          </button>
        )}
        <span className="muted">
          {activeRunId === "" ? "" : "The next message is queued until this turn has ended."}
        </span>
      </div>
      <MessageBox
        label="Message"
        placeholder={agent === "" ? "Create an agent first" : `Message ${agent} …`}
        text={text}
        isBusy={start.isPending || agent === ""}
        onChange={setText}
        onSend={onSend}
      />
    </div>
  );
}
