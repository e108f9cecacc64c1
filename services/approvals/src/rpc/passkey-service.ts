import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import type { PasskeyService } from "@reeve/contracts/passkey";
import { Failure } from "@reeve/platform/failure";
import { reportEffect } from "@reeve/platform/rpc/outcome/call-effect";
import { memberOf, principalOf } from "@reeve/platform/rpc/principal";
import { beginConfirmation } from "../app/passkeys/confirm-approval.ts";
import type { PasskeyPorts, Person } from "../app/passkeys/passkey-ports.ts";
import {
  beginRegistration,
  invitePasskey,
  listPasskeys,
  registerPasskey,
  revokePasskey,
} from "../app/passkeys/register-passkey.ts";

/** Returns the handlers of PasskeyService. */
export function passkeyService(ports: PasskeyPorts): ServiceImpl<typeof PasskeyService> {
  return {
    invitePasskey: async ({ personId }, context) => {
      const { tenant, subject } = principalOf(context);
      const person = { tenant, subject: personId };
      const invited = await invitePasskey(ports, person, subject, context.signal);
      reportEffect(context);
      return invited;
    },
    beginPasskeyRegistration: async ({ invitation }, context) => {
      const person = principalOf(context);
      const options = await beginRegistration(ports, person, invitation, context.signal);
      reportEffect(context);
      return { options };
    },
    registerPasskey: async (request, context) => {
      const person = principalOf(context);
      const passkey = await registerPasskey(ports, person, request, context.signal);
      reportEffect(context);
      return { passkey };
    },
    listPasskeys: async ({ personId }, context) => {
      const person = ownOrOperated(personId, context);
      return { passkeys: await listPasskeys(ports, person, context.signal) };
    },
    revokePasskey: async (request, context) => {
      const person = ownOrOperated(request.personId, context);
      const existed = await revokePasskey(ports, person, request, context.signal);
      if (existed) reportEffect(context);
      return { existed };
    },
    beginConfirmation: async (request, context) => {
      const person = principalOf(context);
      const options = await beginConfirmation(ports, person, request, context.signal);
      reportEffect(context);
      return { options };
    },
  };
}

/** Returns the caller, or the person that an operator names. Throws a Failure of kind `denied` for everyone else. */
function ownOrOperated(personId: string, context: HandlerContext): Person {
  const { tenant, subject, groups } = memberOf(context);
  if (personId === "" || personId === subject) return { tenant, subject };
  if (groups.has("role:operator")) return { tenant, subject: personId };
  const message = `${subject} may not see or revoke the passkeys of ${personId}: only an operator may`;
  throw new Failure("denied", ErrorReason.PERMISSION_DENIED, message);
}
