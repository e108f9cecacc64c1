import type { JsonObject } from "@bufbuild/protobuf";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalService } from "@reeve/contracts/approval";
import { useState } from "react";
import { problemOf } from "../../api/problem.ts";
import { msOf } from "../../format/time.ts";
import { JsonView } from "../../ui/content/json-view.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Permitted } from "../../access/permitted.tsx";
import { Ago } from "../../ui/times.tsx";
import { AnswerEditor } from "./answer-editor.tsx";
import { ApprovalNotes } from "./approval-notes.tsx";
import { ArgumentsEditor } from "./arguments-editor.tsx";
import { BoundFiles } from "./bound-files.tsx";
import { CallName } from "./call-name.tsx";
import { DecisionForm } from "./decision-form.tsx";
import { DecisionTimes } from "./decision-times.tsx";
import { ReviewAdviceView } from "./review-advice.tsx";
import { SimilarDecisions } from "./similar-decisions.tsx";
import { hasVoted, isMine, whoDecides } from "./standing.ts";
import { useDecision } from "./use-decision.ts";
import { VoteProgress } from "./vote-progress.tsx";
import "../../styles/approval.css";
import { nameOfAgent, nameOfCall } from "../../format/names.ts";

interface ApprovalPanelProps {
  readonly approval: Approval;
  /** JSON Schema of the arguments. Undefined: unknown, so that edited arguments are checked by the server only. */
  readonly schema: JsonObject | undefined;
  /** Called with the approval after the decision, which may be one vote of several. */
  readonly onDecided?: ((decided: Approval | undefined) => void) | undefined;
  readonly onNoted?: (() => void) | undefined;
}

/** A call, or a question of a tool, that waits for a person: everything that the person decides on, and the decision. */
export function ApprovalPanel({ approval, schema, onDecided, onNoted }: ApprovalPanelProps) {
  const { call, question, requestedBy } = approval;
  const [edited, setEdited] = useState<JsonObject | undefined>();
  const [isEditing, setEditing] = useState(question !== undefined);
  const [isValid, setValid] = useState(question === undefined);
  const decision = useDecision(approval, onDecided);
  const change = (value: JsonObject | undefined) => {
    setValid(value !== undefined);
    setEdited(value);
  };
  const form = (isEmergencyOnly = false) => (
    <DecisionForm
      approval={approval}
      isPending={decision.isPending}
      problem={decision.error === null ? undefined : problemOf(decision.error)}
      isEditing={isEditing}
      isValid={isValid}
      isEmergencyOnly={isEmergencyOnly}
      schema={schema}
      onSubmit={(approved, reason, more) =>
        decision.submit({ approved, reason, content: edited, ...more })
      }
      onEdit={() => {
        setEditing(!isEditing);
        setEdited(undefined);
        setValid(true);
      }}
    />
  );
  return (
    <section className="approval" aria-label={`Decision about ${nameOfCall(call)}`}>
      <header>
        <h2>
          {question === undefined ? (
            <>
              <CallName call={call} /> waits for {waitsFor(approval)}
            </>
          ) : (
            <>
              {isAgentQuestion(approval) ? "The agent" : <span className="mono">{call?.name}</span>}{" "}
              asks {isMine(approval) ? "you" : whoDecides(approval)} a question
            </>
          )}
        </h2>
        <p className="muted">
          {nameOfAgent(approval)}, started by {requestedBy || "unknown"}, asks since{" "}
          <Ago ms={msOf(approval.requestedAt)} />
          {approval.expiresAt !== undefined && (
            <>
              ; expires <Ago ms={msOf(approval.expiresAt)} />
            </>
          )}
        </p>
      </header>
      {question !== undefined && <p className="question">{question.message}</p>}
      {isAgentQuestion(approval) && isMine(approval) ? (
        <AnswerEditor schema={question?.schema} onChange={change} />
      ) : isEditing && isMine(approval) ? (
        <ArgumentsEditor
          value={question === undefined ? (edited ?? call?.arguments ?? {}) : {}}
          schema={question === undefined ? schema : question.schema}
          label={question === undefined ? "Arguments as JSON" : "Answer as JSON"}
          onChange={change}
        />
      ) : (
        <JsonView value={call?.arguments ?? call?.rawArguments ?? {}} label="Arguments" />
      )}
      {call?.injectedArgs !== undefined && (
        <JsonView value={call.injectedArgs} label="What the model said about the call" />
      )}
      <BoundFiles files={approval.content?.files ?? []} />
      <VoteProgress approval={approval} />
      <DecisionTimes approval={approval} />
      <ReviewAdviceView approval={approval} />
      <SimilarDecisions approvalId={approval.approvalId} />
      <ApprovalNotes approval={approval} onNoted={onNoted} />
      <Permitted
        method={ApprovalService.method.decideApproval}
        action="Deciding"
        or={isAgentQuestion(approval) ? ApprovalService.method.answerQuestion : undefined}
      >
        {isMine(approval) ? (
          form()
        ) : hasVoted(approval) ? (
          <>
            <NotMine approval={approval} />
            <Disclosure summary="Change your vote">{form()}</Disclosure>
          </>
        ) : (
          <>
            <NotMine approval={approval} />
            {form(true)}
          </>
        )}
      </Permitted>
    </section>
  );
}

function waitsFor(approval: Approval): string {
  if (isMine(approval)) return "your decision";
  return hasVoted(approval) ? "the decision of somebody else" : whoDecides(approval);
}

/** Why somebody else decides, and who can. */
function NotMine({ approval }: { readonly approval: Approval }) {
  return (
    <p className="hint" role="note">
      {hasVoted(approval) ? "Your vote is counted" : "You cannot decide this"}:{" "}
      {approval.callerStanding?.reason}. It waits for {whoDecides(approval)}.
    </p>
  );
}
