import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useMutation as useAction } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { AgentService } from "@reeve/contracts/agent";
import { ChatContextKind, OnBusy, RunService } from "@reeve/contracts/run";
import { useRef, useState } from "react";
import { problemOf } from "../../api/problem.ts";
import { requestIds } from "../../api/request-ids.ts";
import { runs } from "../../api/transport.ts";
import { Icon } from "../../ui/icons.tsx";
import { MessageBox } from "../../ui/message-box.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { useLeaving } from "../../ui/use-leaving.ts";
import {
  offerPageToolsTo,
  pageManifest,
  useChoiceOfPageTools,
  usePageTools,
} from "./page-tools/use-page-tools.ts";
import { FilePicker } from "../start/file-picker.tsx";
import type { Uploads } from "../start/upload-files.ts";
import { uploadFiles } from "../start/upload-files.ts";

/** What a model may read beside text, of what browsers name reliably. */
const accepted = "image/png,image/jpeg,image/gif,image/webp,application/pdf";

/** What starts the next turn, beside the text and the files. */
interface NextTurn {
  readonly agentId: string;
  readonly threadId: string;
  readonly requestId: string;
  /** What becomes of a turn that is active. */
  readonly onBusy: OnBusy;
}

interface ChatComposerProps {
  /** Empty: the message creates a thread. */
  readonly threadId: string;
  /** The agent that answered last. */
  readonly agentId: string | undefined;
  /** The workflow that the messages are about. Empty: a new one. Undefined: they are in no editor. */
  readonly workflowId: string | undefined;
  /** Empty: no turn is active. */
  readonly activeRunId: string;
  readonly onStarted: () => void;
}

/** Starts the next turn of a thread. While a turn is active, the message is queued behind it, or the turn is stopped. */
export function ChatComposer(props: ChatComposerProps) {
  const { threadId, agentId, workflowId, activeRunId, onStarted } = props;
  const navigate = useNavigate();
  const listed = useQuery(AgentService.method.listAgents, { pageSize: 1_000 }).data?.agents ?? [];
  const isEditor = workflowId !== undefined;
  // A workflow has no model that could plan another one.
  const agents = listed.filter(({ spec }) => !isEditor || spec?.workflow === undefined);
  const [chosen, setChosen] = useState<string | undefined>();
  const [text, setText] = useState("");
  const [ids] = useState(requestIds);
  const [files, setFiles] = useState<readonly File[]>([]);
  const uploads = useRef<Uploads>(new WeakMap());
  const leaving = useLeaving();
  const [hasPageTools, choosePageTools] = useChoiceOfPageTools();
  const pageProblem = usePageTools(hasPageTools, activeRunId);
  const start = useAction({
    mutationFn: async (turn: NextTurn) => {
      const uploaded = await uploadFiles(files, uploads.current, leaving());
      const parts = uploaded.map(({ artifactId = "" }) => ({
        part: { case: "file", value: { artifactId } } as const,
      }));
      const chatContext = { kind: ChatContextKind.EDITOR, workflowId: workflowId ?? "" };
      const started = await runs.startRun({
        ...turn,
        input: text,
        parts,
        ...(isEditor && { chatContext }),
        ...(hasPageTools && { clientTools: pageManifest() }),
      });
      if (hasPageTools) offerPageToolsTo(started.run?.runId ?? "");
      return started;
    },
  });
  const cancel = useMutation(RunService.method.cancelRun);
  const agent = chosen ?? agentId ?? agents[0]?.spec?.id ?? "";
  const send = (onBusy: OnBusy) => {
    const requestId = ids.idFor(threadId, agent, text, files, onBusy);
    const thread = threadId || `chat-${requestId.slice(0, 12)}`;
    start.mutate(
      { agentId: agent, threadId: thread, requestId, onBusy },
      {
        onSuccess: () => {
          ids.answered();
          setFiles([]);
          setText((now) => (now === text ? "" : now));
          onStarted();
          if (threadId !== "") return;
          const search = workflowId === undefined ? {} : { workflow: workflowId };
          void navigate({ to: "/chat/{-$threadId}", params: { threadId: thread }, search });
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
        {isEditor && (
          <span className="label">
            {workflowId === "" ? "plans a new workflow" : `edits ${workflowId}`}
          </span>
        )}
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
        {activeRunId !== "" && (
          <button
            type="button"
            className="button"
            disabled={start.isPending || text.trim() === ""}
            title="Cancels the active turn and those that are queued, and sends the message"
            onClick={() => send(OnBusy.INTERRUPT)}
          >
            Interrupt with the message
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
        onSend={() => send(OnBusy.QUEUE)}
      />
      <label className="hint">
        <input
          type="checkbox"
          checked={hasPageTools}
          onChange={({ target }) => choosePageTools(target.checked)}
        />{" "}
        Tools of this page: the model may read the text that you select, and change the theme
      </label>
      {pageProblem !== undefined && (
        <p className="hint" role="status">
          The tools of this page are not offered: {pageProblem}.
        </p>
      )}
      <FilePicker
        label="Pictures and PDF documents for the model"
        accept={accepted}
        files={files}
        onChange={setFiles}
      />
    </div>
  );
}
