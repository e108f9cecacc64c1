import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentService } from "@reeve/contracts/agent";
import { useState } from "react";
import { problemOf } from "../../../api/problem.ts";
import { requestIds } from "../../../api/request-ids.ts";
import { agents, runs } from "../../../api/transport.ts";
import { useAccess } from "../../../access/use-access.ts";
import { Permitted } from "../../../access/permitted.tsx";
import { useRunFeed } from "../../../run/feed/use-run-feed.ts";
import { Disclosure } from "../../../ui/disclosure.tsx";
import { MessageBox } from "../../../ui/message-box.tsx";
import { ProblemView } from "../../../ui/problem-view.tsx";
import { useLeaving } from "../../../ui/use-leaving.ts";
import { Conversation } from "../../run/conversation/conversation.tsx";
import type { DraftTrial } from "./run-draft.ts";
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
      <Permitted method={AgentService.method.updateAgent} action="Trying a draft">
        <Trial spec={spec} />
      </Permitted>
    </Disclosure>
  );
}

function Trial({ spec }: PlaygroundProps) {
  const [input, setInput] = useState("");
  const [ids] = useState(requestIds);
  const subject = useAccess().caller?.subject;
  const leaving = useLeaving();
  const trial = useMutation({
    mutationFn: (draft: DraftTrial) => runDraft({ agents, runs }, draft, leaving()),
    onSuccess: (_, sent) => {
      ids.answered();
      setInput((now) => (now === sent.input ? "" : now));
    },
  });
  const onSend = () => {
    if (spec === undefined || subject === undefined) return;
    trial.mutate({ spec, subject, input, requestId: ids.idFor(spec, subject, input) });
  };
  return (
    <div className="playground">
      <p className="muted">
        {spec === undefined || subject === undefined ? (
          "The draft can be tried when it is valid."
        ) : (
          <>
            The draft is saved as the agent{" "}
            <span className="mono">{draftIdOf(spec.id, subject)}</span>, and runs with the label{" "}
            <span className="mono">draft</span>. It costs what a run costs, and its tools work.
            Rules of the operator&apos;s policy about <span className="mono">{spec.id}</span> do not
            apply to it, unless they also name the drafts.
          </>
        )}
      </p>
      {trial.data !== undefined && <TrialRun key={trial.data} runId={trial.data} />}
      {trial.error !== null && <ProblemView problem={problemOf(trial.error)} />}
      <MessageBox
        label="Input of the draft"
        placeholder="What should the draft do?"
        text={input}
        isBusy={trial.isPending || spec === undefined || subject === undefined}
        onChange={setInput}
        onSend={onSend}
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
