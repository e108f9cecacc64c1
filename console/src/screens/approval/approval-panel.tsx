import type { JsonObject } from "@bufbuild/protobuf";
import { Link } from "@tanstack/react-router";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalService } from "@reeve/contracts/approval";
import { useState } from "react";
import { problemOf } from "../../api/problem.ts";
import { msOf } from "../../format/time.ts";
import { JsonView } from "../../ui/content/json-view.tsx";
import { Permitted } from "../../access/permitted.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";
import { AnswerEditor } from "./answer-editor.tsx";
import { ApprovalNotes } from "./approval-notes.tsx";
import { ArgumentsEditor } from "./arguments-editor.tsx";
import { BreakGlass } from "./break-glass.tsx";
import { BoundFiles } from "./bound-files.tsx";
import { DecisionTimes } from "./decision-times.tsx";
import { ReviewAdviceView } from "./review-advice.tsx";
import { SimilarDecisions } from "./similar-decisions.tsx";
import { useDecision } from "./use-decision.ts";
import { VoteProgress } from "./vote-progress.tsx";
import "../../styles/approval.css";
import { nameOfAgent } from "../../format/names.ts";

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
  const [reason, setReason] = useState("");
  const [edited, setEdited] = useState<JsonObject | undefined>();
  const [isEditing, setEditing] = useState(question !== undefined);
  const [isValid, setValid] = useState(question === undefined);
  const decision = useDecision(approval, onDecided);
  const submit = (approved: boolean, breakGlass = false) =>
    decision.submit({ approved, reason, content: edited, breakGlass });
  const change = (value: JsonObject | undefined) => {
    setValid(value !== undefined);
    setEdited(value);
  };
  return (
    <section className="approval" aria-label={`Decision about ${call?.name ?? "a call"}`}>
      <header>
        <h2>
          {question === undefined ? (
            <>
              <span className="mono">{call?.name}</span> waits for your decision
            </>
          ) : (
            <>
              {isAgentQuestion(approval) ? "The agent" : <span className="mono">{call?.name}</span>}{" "}
              asks a question
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
      {isAgentQuestion(approval) ? (
        <AnswerEditor schema={question?.schema} onChange={change} />
      ) : isEditing ? (
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
        or={isAgentQuestion(approval) ? ApprovalService.method.answerQuestion : undefined}
      >
        <label className="field">
          <span>Reason (the model reads it if you reject)</span>
          <input
            className="input"
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        </label>
        {approval.needsPasskey && (
          <p className="hint">
            You confirm the approval of exactly this call with{" "}
            <Link to="/passkeys">your passkey</Link>.
          </p>
        )}
        {decision.error !== null && <ProblemView problem={problemOf(decision.error)} />}
        <div className="row">
          <button
            type="button"
            className="button primary"
            aria-keyshortcuts="a"
            disabled={decision.isPending || (isEditing && !isValid)}
            onClick={() => submit(true)}
          >
            {question === undefined
              ? isEditing
                ? "Approve with these arguments"
                : "Approve"
              : "Answer"}
          </button>
          <button
            type="button"
            className="button danger"
            aria-keyshortcuts="r"
            disabled={decision.isPending}
            onClick={() => submit(false)}
          >
            {question === undefined ? "Reject" : "Decline"}
          </button>
          {question === undefined && approval.allowEditedArguments && (
            <button
              type="button"
              className="button quiet"
              aria-keyshortcuts="e"
              onClick={() => {
                setEditing(!isEditing);
                setEdited(undefined);
                setValid(true);
              }}
            >
              {isEditing ? "Keep the arguments of the model" : "Edit arguments"}
            </button>
          )}
        </div>
        {question === undefined && (
          <BreakGlass
            isDisabled={decision.isPending || (isEditing && !isValid) || reason.trim() === ""}
            onBreak={() => submit(true, true)}
          />
        )}
      </Permitted>
    </section>
  );
}
