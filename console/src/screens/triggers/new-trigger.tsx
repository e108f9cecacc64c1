import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { TriggerService } from "@reeve/contracts/trigger";
import { useState } from "react";
import { Permitted } from "../../access/permitted.tsx";
import { problemOf } from "../../api/problem.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { HookSecret } from "./hook-secret.tsx";
import { TriggerCrumbs } from "./trigger-crumbs.tsx";
import type { TriggerDraft } from "./trigger-draft.ts";
import { newDraft, specOf } from "./trigger-draft.ts";
import { TriggerForm } from "./trigger-form.tsx";
import { hookAddress } from "./trigger-names.ts";

/** Creates a trigger. The secret of a webhook is shown before its page. */
export function NewTrigger() {
  const navigate = useNavigate();
  const create = useMutation(TriggerService.method.createTrigger);
  const [draft] = useState(() => newDraft(Intl.DateTimeFormat().resolvedOptions().timeZone));
  const show = (triggerId: string) =>
    void navigate({ to: "/triggers/{-$triggerId}", params: { triggerId }, search: {} });
  const onSave = (next: TriggerDraft) =>
    create.mutate(
      { spec: specOf(next) },
      {
        onSuccess: ({ webhookSecret }) => {
          if (webhookSecret === "") show(next.triggerId);
        },
      },
    );
  const created = create.data;
  return (
    <>
      <TriggerCrumbs>
        <span>new</span>
      </TriggerCrumbs>
      <PageHead title="Create a trigger" />
      {created !== undefined && created.webhookSecret !== "" ? (
        <>
          <HookSecret
            secret={created.webhookSecret}
            address={hookAddress(created.trigger ?? { hookPath: "" }, window.location.origin)}
          />
          <button
            type="button"
            className="button primary"
            onClick={() => show(created.trigger?.spec?.triggerId ?? "")}
          >
            Show the trigger
          </button>
        </>
      ) : (
        <Permitted method={TriggerService.method.createTrigger} action="Creating a trigger">
          <TriggerForm
            draft={draft}
            isNew
            isBusy={create.isPending}
            problem={create.error === null ? undefined : problemOf(create.error)}
            label="Create the trigger"
            onSave={onSave}
          />
        </Permitted>
      )}
    </>
  );
}
