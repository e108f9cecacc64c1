import type { JsonObject } from "@bufbuild/protobuf";
import { Link } from "@tanstack/react-router";
import type { Approval } from "@reeve/contracts/approval";
import type { ReactNode } from "react";
import { Suspense, lazy, useState } from "react";
import type { Problem } from "../../api/problem.ts";
import { retried } from "../../loading/retried.ts";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { BreakGlass } from "./break-glass.tsx";
import type { GrantDraft } from "./grant/grant-draft.ts";
import { mayGrant } from "./grant/may-grant.ts";

/** The language of rules is large, and loaded when a rule is made. */
const loadGrantForm = retried(() => import("./grant/grant-form.tsx"));
const GrantForm = lazy(async () => ({ default: (await loadGrantForm()).GrantForm }));

interface DecisionFormProps {
  readonly approval: Approval;
  readonly isPending: boolean;
  readonly problem: Problem | undefined;
  readonly isEditing: boolean;
  /** Whether the arguments or the answer can be sent. */
  readonly isValid: boolean;
  /** JSON Schema of the arguments. Undefined: unknown. */
  readonly schema: JsonObject | undefined;
  readonly onSubmit: (
    approved: boolean,
    reason: string,
    more?: { readonly breakGlass?: boolean; readonly grant?: GrantDraft },
  ) => void;
  /** Begins or ends the editing of the arguments. */
  readonly onEdit: () => void;
  /** Whether only the emergency is offered: votes do not need this person. */
  readonly isEmergencyOnly?: boolean;
}

/** The reason and the buttons of a decision. */
export function DecisionForm(props: DecisionFormProps) {
  const { approval, isPending, problem, isEditing, isValid, schema, onSubmit, onEdit } = props;
  const { isEmergencyOnly = false } = props;
  const { question } = approval;
  const [reason, setReason] = useState("");
  const isBlocked = isPending || (isEditing && !isValid);
  const reasonField = (
    <label className="field">
      <span>Reason (passed on if you reject)</span>
      <input className="input" value={reason} onChange={(event) => setReason(event.target.value)} />
    </label>
  );
  const emergency = question === undefined && (
    <BreakGlass
      isDisabled={isBlocked || reason.trim() === ""}
      onBreak={() => onSubmit(true, reason, { breakGlass: true })}
    >
      {isEmergencyOnly && reasonField}
    </BreakGlass>
  );
  const refusal = problem !== undefined && <ProblemView problem={problem} />;
  if (isEmergencyOnly) {
    return (
      <>
        {refusal}
        {emergency}
      </>
    );
  }
  return (
    <>
      {reasonField}
      {approval.needsPasskey && (
        <p className="hint">
          You confirm the approval of exactly this call with{" "}
          <Link to="/passkeys">your passkey</Link>.
        </p>
      )}
      {refusal}
      <div className="row">
        <Choice
          tone="primary"
          keys="a"
          isDisabled={isBlocked}
          onClick={() => onSubmit(true, reason)}
        >
          {question !== undefined
            ? "Answer"
            : isEditing
              ? "Approve with these arguments"
              : "Approve"}
        </Choice>
        <Choice
          tone="danger"
          keys="r"
          isDisabled={isPending}
          onClick={() => onSubmit(false, reason)}
        >
          {question === undefined ? "Reject" : "Decline"}
        </Choice>
        {question === undefined && approval.allowEditedArguments && (
          <Choice tone="quiet" keys="e" isDisabled={false} onClick={onEdit}>
            {isEditing ? "Keep the arguments of the model" : "Edit arguments"}
          </Choice>
        )}
      </div>
      {!isEditing && mayGrant(approval) && (
        <Disclosure summary="Approve further calls, too" name="grant">
          <Suspense fallback={<p className="loading">Loading the form …</p>}>
            <GrantForm
              approval={approval}
              schema={schema}
              isDisabled={isBlocked}
              onGrant={(grant) => onSubmit(true, reason, { grant })}
            />
          </Suspense>
        </Disclosure>
      )}
      {emergency}
    </>
  );
}

interface ChoiceProps {
  readonly tone: "primary" | "danger" | "quiet";
  readonly keys: string;
  readonly isDisabled: boolean;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

function Choice({ tone, keys, isDisabled, onClick, children }: ChoiceProps) {
  return (
    <button
      type="button"
      className={`button ${tone}`}
      aria-keyshortcuts={keys}
      disabled={isDisabled}
      onClick={onClick}
    >
      {children}
    </button>
  );
}
