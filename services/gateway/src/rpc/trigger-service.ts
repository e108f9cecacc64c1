import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { TriggerService } from "@reeve/contracts/trigger";
import { TriggerSpecSchema } from "@reeve/contracts/trigger";
import { create } from "@bufbuild/protobuf";
import { noteEffect } from "@reeve/platform/rpc/outcome/call-effect";
import type { Credential } from "@reeve/platform/rpc/principal";
import { callerOf, credentialOf, principalOf } from "@reeve/platform/rpc/principal";
import { fireNow } from "../app/triggers/fire-now.ts";
import {
  createTrigger,
  deleteTrigger,
  getTrigger,
  listTriggers,
  pauseTrigger,
  resumeTrigger,
  rotateSecret,
  updateTrigger,
} from "../app/triggers/manage-triggers.ts";
import type { TriggerPorts } from "../app/triggers/trigger-ports.ts";
import { readFirings, readTrigger } from "../app/triggers/trigger-records.ts";

/** Returns the handlers of TriggerService. */
export function triggerService(ports: TriggerPorts): ServiceImpl<typeof TriggerService> {
  return {
    createTrigger: ({ spec = create(TriggerSpecSchema) }, context) =>
      createTrigger(ports, callerIn(context), spec, context.signal),
    updateTrigger: async ({ spec = create(TriggerSpecSchema), revision }, context) => {
      const change = { spec, revision };
      return { trigger: await updateTrigger(ports, callerIn(context), change, context.signal) };
    },
    getTrigger: async ({ triggerId }, context) => ({
      trigger: await getTrigger(ports, keyOf(context, triggerId), context.signal),
    }),
    listTriggers: async (request, context) => {
      const { tenant } = principalOf(context);
      const { items, nextPageToken } = await listTriggers(ports, tenant, request, context.signal);
      return { triggers: [...items], nextPageToken };
    },
    deleteTrigger: async ({ triggerId }, context) => {
      await deleteTrigger(ports, keyOf(context, triggerId), context.signal);
      noteEffect(context);
      return {};
    },
    pauseTrigger: async ({ triggerId }, context) => ({
      trigger: await pauseTrigger(ports, keyOf(context, triggerId), context.signal),
    }),
    resumeTrigger: async ({ triggerId }, context) => ({
      trigger: await resumeTrigger(ports, callerIn(context), triggerId, context.signal),
    }),
    fireTrigger: async (request, context) => ({
      firing: await fireNow(ports, callerIn(context), request, context.signal),
    }),
    rotateTriggerSecret: async ({ triggerId }, context) => ({
      webhookSecret: await rotateSecret(ports, callerIn(context), triggerId, context.signal),
    }),
    listFirings: async ({ triggerId }, context) => {
      const key = keyOf(context, triggerId);
      const { record } = await readTrigger(ports, key, context.signal);
      const firings = await readFirings(ports, key, record.uid, context.signal);
      return { firings: firings.toReversed() };
    },
  };
}

function keyOf(context: HandlerContext, triggerId: string) {
  return { tenant: principalOf(context).tenant, trigger: triggerId };
}

/** Returns the caller with the kind of its credential. */
function callerIn(context: HandlerContext): Credential {
  const kind = callerOf(context.values)?.kind;
  return { ...credentialOf(context), ...(kind && { kind }) };
}
