import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ApprovalSchema } from "@reeve/contracts/approval";
import { DecideApprovalRequestSchema } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import {
  BeginConfirmationRequestSchema,
  RegisterPasskeyRequestSchema,
} from "@reeve/contracts/passkey";
import { decideApproval } from "@reeve/run/approvals/decide-approval";
import { ada, approvalId, noon, parkedRun } from "./parked-run.ts";
import { SoftwareAuthenticator } from "./software-authenticator.ts";
import type { ApprovalPorts } from "../../src/app/approval-ports.ts";
import type { Person } from "../../src/app/passkeys/passkey-ports.ts";
import { beginConfirmation, confirmationOf } from "../../src/app/passkeys/confirm-approval.ts";
import {
  beginRegistration,
  invitePasskey,
  registerPasskey,
} from "../../src/app/passkeys/register-passkey.ts";

const never = new AbortController().signal;
export const site = { origin: "https://reeve.example.com", rpId: "reeve.example.com" };
export const bob = { tenant: ada.tenant, subject: "bob" };
export const callDigest = "a".repeat(64);
export const refused = { kind: "denied", reason: ErrorReason.PASSKEY_REFUSED };
export const required = { kind: "precondition", reason: ErrorReason.PASSKEY_REQUIRED };

export type Ports = ApprovalPorts & Pick<Awaited<ReturnType<typeof waiting>>, "clock">;
export type Init<Schema extends DescMessage> = Exclude<
  MessageInitShape<Schema>,
  { readonly $typeName: string }
>;
export type Decided = Init<typeof DecideApprovalRequestSchema>;

/** A call of `pay` that waits, by an agent whose policy wants passkeys for it. */
export function waiting(more: Init<typeof ApprovalSchema> = {}) {
  const spec = { approvalPolicy: { stepUp: { tools: ["pay"] }, allowEditedArguments: true } };
  const call = { name: "pay", arguments: { to: "bob" } };
  const paying = { requestedAt: timestampFromMs(noon), agentId: "buyer", call, callDigest };
  return parkedRun({ allowEditedArguments: true, ...paying, ...more }, [], { spec });
}

export async function registered(
  ports: Ports,
  person: Person = ada,
): Promise<SoftwareAuthenticator> {
  const device = new SoftwareAuthenticator(site);
  const { invitation } = await invitePasskey(ports, person, "olga", never);
  const options = await beginRegistration(ports, person, invitation, never);
  const response = device.register(options);
  await registerPasskey(ports, person, registration(invitation, response), never);
  return device;
}

export const registration = (
  invitation: string,
  response: ReturnType<SoftwareAuthenticator["register"]>,
) => create(RegisterPasskeyRequestSchema, { invitation, name: "laptop", response });

/** Begins the confirmation of an approval, as the console does. */
export const begun = (ports: Ports, more: Decided = {}, person: Person = ada) => {
  const { editedArguments, breakGlass = false } = more;
  const given = { approvalId, callDigest, breakGlass, ...(editedArguments && { editedArguments }) };
  return beginConfirmation(ports, person, create(BeginConfirmationRequestSchema, given), never);
};

/** Decides as the service does. */
export async function decide(ports: Ports, more: Decided, person: Person = ada) {
  const given = { approvalId, approved: true, callDigest, ...more };
  const request = create(DecideApprovalRequestSchema, given);
  const confirmation = await confirmationOf(ports, person, request, never);
  return await decideApproval(ports, { ...person, confirmation }, request, never);
}
