import { useMutation } from "@connectrpc/connect-query";
import { Link, useNavigate } from "@tanstack/react-router";
import type { Firing, Trigger } from "@reeve/contracts/trigger";
import { TriggerService, TriggerState } from "@reeve/contracts/trigger";
import { useState } from "react";
import { Permitted } from "../../access/permitted.tsx";
import { problemOf } from "../../api/problem.ts";
import { requestIds } from "../../api/request-ids.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { HookSecret } from "./hook-secret.tsx";
import { hookAddress } from "./trigger-names.ts";

interface TriggerActionsProps {
  readonly trigger: Trigger;
  readonly onDone: () => void;
}

/** Fires, pauses, resumes, or deletes a trigger, or replaces the secret of its webhook. */
export function TriggerActions(props: TriggerActionsProps) {
  return (
    <div className="trigger-actions">
      <Permitted method={TriggerService.method.fireTrigger} action="Changing or firing a trigger">
        <Actions {...props} />
      </Permitted>
    </div>
  );
}

function Actions({ trigger, onDone }: TriggerActionsProps) {
  const { spec, state } = trigger;
  const triggerId = spec?.triggerId ?? "";
  const navigate = useNavigate();
  const pause = useMutation(TriggerService.method.pauseTrigger);
  const resume = useMutation(TriggerService.method.resumeTrigger);
  const remove = useMutation(TriggerService.method.deleteTrigger);
  const rotate = useMutation(TriggerService.method.rotateTriggerSecret);
  const isActive = state === TriggerState.ACTIVE;
  const error = pause.error ?? resume.error;
  return (
    <>
      <div className="row">
        <Fire trigger={trigger} onDone={onDone} />
        <button
          type="button"
          className="button"
          disabled={pause.isPending || resume.isPending}
          onClick={() =>
            (isActive ? pause : resume).mutate({ triggerId }, { onSuccess: () => onDone() })
          }
        >
          {isActive ? "Pause" : "Resume"}
        </button>
        {trigger.hookPath !== "" && (
          <Dialog
            label="Replace the secret"
            title="Replace the secret?"
            confirm="Replace it"
            isBusy={rotate.isPending}
            onConfirm={(close) =>
              rotate.mutate(
                { triggerId },
                {
                  onSuccess: () => {
                    close();
                    onDone();
                  },
                },
              )
            }
          >
            <p>
              You become the owner of the trigger. The secret before stays valid for a day, unless
              the trigger had another owner.
            </p>
            {rotate.error !== null && <ProblemView problem={problemOf(rotate.error)} />}
          </Dialog>
        )}
        <Dialog
          label="Delete"
          title={`Delete the trigger ${triggerId}?`}
          confirm="Delete it"
          isDanger
          isBusy={remove.isPending}
          onConfirm={(close) =>
            remove.mutate(
              { triggerId },
              {
                onSuccess: () => {
                  close();
                  void navigate({
                    to: "/triggers/{-$triggerId}",
                    params: { triggerId: undefined },
                    search: {},
                  });
                },
              },
            )
          }
        >
          <p>The history of its firings is deleted, too. Its runs stay, and continue.</p>
          {remove.error !== null && <ProblemView problem={problemOf(remove.error)} />}
        </Dialog>
      </div>
      {!isActive && (
        <p className="hint">
          The person who resumes a trigger becomes its owner, and its runs are theirs.
        </p>
      )}
      {error !== null && <ProblemView problem={problemOf(error)} />}
      {rotate.data !== undefined && (
        <HookSecret
          secret={rotate.data.webhookSecret}
          address={hookAddress(trigger, window.location.origin)}
        />
      )}
    </>
  );
}

/** Starts a run of the trigger now, as the person who asks for it. */
function Fire({ trigger, onDone }: TriggerActionsProps) {
  const triggerId = trigger.spec?.triggerId ?? "";
  const isWebhook = trigger.hookPath !== "";
  const [body, setBody] = useState("{}");
  const [ids] = useState(requestIds);
  const [fired, setFired] = useState<Firing | undefined>();
  const fire = useMutation(TriggerService.method.fireTrigger);
  return (
    <>
      <Dialog
        label="Fire now"
        title={`Fire ${triggerId} now?`}
        confirm="Fire"
        isBusy={fire.isPending}
        onConfirm={(close) =>
          fire.mutate(
            {
              triggerId,
              requestId: ids.idFor(triggerId, body),
              ...(isWebhook && { body: new TextEncoder().encode(body) }),
            },
            {
              onSuccess: ({ firing }) => {
                ids.answered();
                setFired(firing);
                close();
                onDone();
              },
            },
          )
        }
      >
        <p>A run starts now. It is yours, also if the trigger is not.</p>
        {isWebhook && (
          <label className="field">
            <span>Body of the webhook</span>
            <textarea
              className="input mono"
              rows={5}
              value={body}
              onChange={({ target }) => setBody(target.value)}
            />
          </label>
        )}
        {fire.error !== null && <ProblemView problem={problemOf(fire.error)} />}
      </Dialog>
      {fired !== undefined && (
        <span role="status">
          {fired.runId === "" ? (
            fired.problem || "No run started."
          ) : (
            <Link to="/runs/$runId/{-$view}" params={{ runId: fired.runId }}>
              Show the run
            </Link>
          )}
        </span>
      )}
    </>
  );
}
