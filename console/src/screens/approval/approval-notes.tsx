import { useMutation } from "@connectrpc/connect-query";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalService } from "@reeve/contracts/approval";
import { useState } from "react";
import { useAccess } from "../../access/use-access.ts";
import { newId } from "../../api/new-id.ts";
import { problemOf } from "../../api/problem.ts";
import { msOf } from "../../format/time.ts";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";

interface ApprovalNotesProps {
  readonly approval: Approval;
  readonly onNoted?: (() => void) | undefined;
}

/** Who takes care of a call that waits, and what people said about it. Notes decide nothing. */
export function ApprovalNotes({ approval, onNoted }: ApprovalNotesProps) {
  const { approvalId, comments, assignment } = approval;
  const [text, setText] = useState("");
  const [assignee, setAssignee] = useState(assignment?.assignee ?? "");
  const comment = useMutation(ApprovalService.method.commentApproval);
  const assign = useMutation(ApprovalService.method.assignApproval);
  const error = comment.error ?? assign.error;
  const mayNote = useAccess().whyNot(ApprovalService.method.commentApproval) === undefined;
  const isEmpty = comments.length === 0 && (assignment?.assignee ?? "") === "";
  if (!mayNote && isEmpty) return null;
  const send = () =>
    comment.mutate(
      { approvalId, text, commentId: newId() },
      {
        onSuccess: () => {
          setText("");
          onNoted?.();
        },
      },
    );
  return (
    <section aria-label="Notes">
      <h3>Notes</h3>
      {assignment !== undefined && assignment.assignee !== "" && (
        <p>{assignment.assignee} takes care of it</p>
      )}
      {comments.length > 0 && (
        <ul>
          {comments.map(({ commentedBy, commentedAt, text: said }, index) => (
            <li key={index}>
              {commentedBy} <Ago ms={msOf(commentedAt)} />: {said}
            </li>
          ))}
        </ul>
      )}
      {error !== null && <ProblemView problem={problemOf(error)} />}
      {mayNote && (
        <div className="row">
          <input
            className="input"
            aria-label="Comment"
            placeholder="Comment, for those who decide"
            maxLength={500}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <button
            type="button"
            className="button quiet"
            disabled={comment.isPending || text.trim() === ""}
            onClick={send}
          >
            Comment
          </button>
          <input
            className="input"
            aria-label="Assignee"
            placeholder="Who takes care of it"
            value={assignee}
            onChange={(event) => setAssignee(event.target.value)}
          />
          <button
            type="button"
            className="button quiet"
            disabled={assign.isPending || assignee === (assignment?.assignee ?? "")}
            onClick={() =>
              assign.mutate({ approvalId, assignee }, { onSuccess: () => onNoted?.() })
            }
          >
            Assign
          </button>
        </div>
      )}
    </section>
  );
}
