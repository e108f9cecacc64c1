import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentService } from "@reeve/contracts/agent";
import { useState } from "react";
import { newId } from "../../../api/new-id.ts";
import { problemOf } from "../../../api/problem.ts";
import { agents, runs } from "../../../api/transport.ts";
import { Permitted } from "../../../access/permitted.tsx";
import { useRunFeed } from "../../../run/use-run-feed.ts";
import { Disclosure } from "../../../ui/disclosure.tsx";
import { MessageBox } from "../../../ui/message-box.tsx";
import { ProblemView } from "../../../ui/problem-view.tsx";
import { useLeaving } from "../../../ui/use-leaving.ts";
import { Conversation } from "../../run/conversation/conversation.tsx";
import { draftIdOf, runDraft } from "./run-draft.ts";
import "../../../styles/run.css";
import "../../../styles/conversation.css";

interface PlaygroundProps {
  /** Undefined: the draft is not valid. */
  readonly spec: AgentSpec | undefined;
}

/** Runs the draft that the editor shows, without saving it as the agent. */
export function Playground({ spec }: PlaygroundProps) {
  return (
    <Disclosure summary={<strong>Try the draft</strong>}>
      <Permitted method={AgentService.method.updateAgent}>
        <Trial spec={spec} />
      </Permitted>
    </Disclosure>
  );
}

function Trial({ spec }: PlaygroundProps) {
  const [input, setInput] = useState("");
  const leaving = useLeaving();
  const trial = useMutation({
    mutationFn: (draft: AgentSpec) =>
      runDraft({ agents, runs }, { spec: draft, input, requestId: newId() }, leaving()),
    onSuccess: () => setInput(""),
  });
  return (
    <div className="playground">
      <p className="muted">
        {spec === undefined ? (
          "The draft can be tried when it is valid."
        ) : (
          <>
            The draft is saved as the agent <span className="mono">{draftIdOf(spec.id)}</span>, and
            runs with the label <span className="mono">draft</span>. It costs what a run costs, and
            its tools work.
          </>
        )}
      </p>
      {trial.data !== undefined && <TrialRun key={trial.data} runId={trial.data} />}
      {trial.error !== null && <ProblemView problem={problemOf(trial.error)} />}
      <MessageBox
        label="Input of the draft"
        placeholder="What should the draft do?"
        text={input}
        isBusy={trial.isPending || spec === undefined}
        onChange={setInput}
        onSend={() => spec !== undefined && trial.mutate(spec)}
      />
    </div>
  );
}

function TrialRun({ runId }: { readonly runId: string }) {
  const snapshot = useRunFeed(runId);
  return (
    <section aria-label="Run of the draft">
      <Conversation snapshot={snapshot} />
      <p>
        <Link to="/runs/$runId/{-$view}" params={{ runId }}>
          Show the run
        </Link>
      </p>
    </section>
  );
}
