import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Agent } from "@reeve/contracts/agent";
import { useRef, useState } from "react";
import { problemOf } from "../../api/problem.ts";
import { requestIds } from "../../api/request-ids.ts";
import { runs } from "../../api/transport.ts";
import { ProblemView } from "../../ui/problem-view.tsx";
import { FilePicker } from "./file-picker.tsx";
import { useLeaving } from "../../ui/use-leaving.ts";
import type { Uploads } from "./upload-files.ts";
import { uploadFiles } from "./upload-files.ts";

interface StartFormProps {
  readonly agents: readonly Agent[];
  readonly chosen: string | undefined;
}

/** Starts a run of an agent with an input and files, and shows it. */
export function StartForm({ agents, chosen }: StartFormProps) {
  const navigate = useNavigate();
  const [picked, setPicked] = useState<string | undefined>();
  // The list may be older than the agent that the address names, and is read again at once.
  const isKnown = agents.some(({ spec }) => spec?.id === chosen);
  const agentId = picked ?? ((isKnown && chosen) || (agents[0]?.spec?.id ?? ""));
  const [input, setInput] = useState("");
  const [files, setFiles] = useState<readonly File[]>([]);
  const [ids] = useState(requestIds);
  const uploads = useRef<Uploads>(new WeakMap());
  const leaving = useLeaving();
  const start = useMutation({
    mutationFn: async () => {
      const signal = leaving();
      const requestId = ids.idFor(agentId, input, files);
      const uploaded = await uploadFiles(files, uploads.current, signal);
      const request = { agentId, input, files: uploaded, requestId };
      return await runs.startRun(request, { signal });
    },
    onSuccess: ({ run }) => {
      if (run === undefined) return;
      void navigate({ to: "/runs/$runId/{-$view}", params: { runId: run.runId } });
    },
  });
  return (
    <form
      className="start-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (input.trim() !== "") start.mutate();
      }}
    >
      <label className="field">
        <span>Agent</span>
        <select value={agentId} onChange={(event) => setPicked(event.target.value)}>
          {agents.map(({ spec }) => (
            <option key={spec?.id} value={spec?.id}>
              {spec?.name === spec?.id ? spec?.id : `${spec?.name} (${spec?.id})`}
            </option>
          ))}
        </select>
      </label>
      <p className="muted">{describe(agents.find(({ spec }) => spec?.id === agentId))}</p>
      <label className="field">
        <span>Input</span>
        <textarea
          className="input"
          rows={6}
          placeholder="What should the agent do?"
          value={input}
          onChange={(event) => setInput(event.target.value)}
        />
      </label>
      <FilePicker files={files} onChange={setFiles} />
      {start.error !== null && <ProblemView problem={problemOf(start.error)} />}
      <div className="row end">
        <button
          type="submit"
          className="button primary"
          disabled={input.trim() === "" || start.isPending}
        >
          {start.isPending ? "Starting …" : "Start the run"}
        </button>
      </div>
    </form>
  );
}

function describe(agent: Agent | undefined): string {
  const { model = "", hitlTools = [], workflow } = agent?.spec ?? {};
  const asks = hitlTools.length === 0 ? "" : ` It asks before it calls ${hitlTools.join(", ")}.`;
  // Nodes name models of their own; the default is for those that name none.
  const calls = workflow?.nodes.some(({ type }) => type === "model") ?? true;
  return `${calls ? `It uses the model ${model}.` : "It is a workflow without model nodes."}${asks}`;
}
