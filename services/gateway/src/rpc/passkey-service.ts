import type { Client, HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { PasskeyService } from "@reeve/contracts/passkey";
import { noteEffect, reportsEffect } from "@reeve/platform/rpc/outcome/call-effect";
import { principalHeaders } from "@reeve/platform/rpc/internal-principal";
import { memberOf } from "@reeve/platform/rpc/principal";
import { forwarded } from "./forwarded.ts";

/** Returns the handlers of PasskeyService: they forward each call to approvals, with the authenticated principal and its roles. */
export function passkeyService(
  approvals: Client<typeof PasskeyService>,
  internalToken: string | undefined,
): ServiceImpl<typeof PasskeyService> {
  const as = (context: HandlerContext) => ({
    headers: principalHeaders(memberOf(context), internalToken),
    signal: context.signal,
    onHeader: (header: Headers) => {
      if (reportsEffect(header)) noteEffect(context);
    },
  });
  return {
    invitePasskey: (request, context) => forwarded(approvals.invitePasskey(request, as(context))),
    beginPasskeyRegistration: (request, context) =>
      forwarded(approvals.beginPasskeyRegistration(request, as(context))),
    registerPasskey: (request, context) =>
      forwarded(approvals.registerPasskey(request, as(context))),
    listPasskeys: (request, context) => forwarded(approvals.listPasskeys(request, as(context))),
    revokePasskey: (request, context) => forwarded(approvals.revokePasskey(request, as(context))),
    beginConfirmation: (request, context) =>
      forwarded(approvals.beginConfirmation(request, as(context))),
  };
}
