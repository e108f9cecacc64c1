import { equals } from "@bufbuild/protobuf";
import type { Client, Trigger, TriggerSpec } from "@reeve/client";
import { ReeveError } from "@reeve/client";
import { TriggerSpecSchema } from "@reeve/contracts/trigger";

/** What became of a trigger file. */
export interface AppliedTrigger {
  readonly trigger: Trigger;
  readonly action: "created" | "updated" | "unchanged";
  /** The secret of a new trigger with a webhook; else "". */
  readonly webhookSecret: string;
  /** Whether the secrets of a webhook are not valid anymore, because the trigger had another owner. */
  readonly isSecretGone: boolean;
}

/** Makes a trigger equal to a spec: creates it, updates it, or leaves it as it is. */
export async function applyTrigger(
  reeve: Client,
  spec: TriggerSpec,
  options: { readonly signal: AbortSignal },
): Promise<AppliedTrigger> {
  const known = await findTrigger(reeve, spec.triggerId, options);
  if (known === undefined) {
    const created = await reeve.triggers.create(spec, options);
    return { action: "created", isSecretGone: false, ...created };
  }
  if (known.spec !== undefined && equals(TriggerSpecSchema, known.spec, spec)) {
    return { action: "unchanged", trigger: known, webhookSecret: "", isSecretGone: false };
  }
  const { revision } = known;
  const trigger = await reeve.triggers.update(spec, { revision, ...options });
  const isSecretGone = trigger.hookPath !== "" && known.owner?.subject !== trigger.owner?.subject;
  return { action: "updated", trigger, webhookSecret: "", isSecretGone };
}

async function findTrigger(
  reeve: Client,
  triggerId: string,
  options: { readonly signal: AbortSignal },
): Promise<Trigger | undefined> {
  // The validation of the creation says what is wrong with an id.
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(triggerId)) return undefined;
  try {
    return await reeve.triggers.get(triggerId, options);
  } catch (error) {
    if (error instanceof ReeveError && error.reason === "TRIGGER_NOT_FOUND") return undefined;
    throw error;
  }
}
