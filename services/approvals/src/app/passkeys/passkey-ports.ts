import type { PasskeySite } from "@reeve/agent/deciders/passkey-site";
import { ErrorReason } from "@reeve/contracts/error";
import type { PersonCeremonies, PersonPasskeys } from "@reeve/contracts/passkey";
import type { Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";
import type { ConfirmingPorts } from "@reeve/run/approvals/passkeys/assert-confirmable";
import type { Holders } from "@reeve/run/policy/runtime-checks";

/** The stores of passkeys, and the clock. */
export interface PasskeyPorts extends ConfirmingPorts {
  readonly passkeys: Table<PersonPasskeys>;
  readonly ceremonies: Table<PersonCeremonies>;
  /** Where people use passkeys. Undefined: nowhere. */
  readonly site: PasskeySite | undefined;
  /** The processes that take work, and what each of them checks. */
  readonly holders: Holders;
}

/** Whose passkeys. */
export interface Person {
  readonly tenant: string;
  readonly subject: string;
}

/** Returns where people use passkeys. Throws a Failure if the deployment has no address for them. */
export function siteOf({ site }: Pick<PasskeyPorts, "site">): PasskeySite {
  if (site !== undefined) return site;
  const message =
    "this deployment has no address for passkeys; set REEVE_PUBLIC_URL of approvals to an https address with a host name";
  throw new Failure("precondition", ErrorReason.PASSKEYS_NOT_CONFIGURED, message);
}

/** Returns the Failure of a response or an invitation that is not valid. */
export function passkeyRefused(why: string, cause?: unknown): Failure {
  return new Failure("denied", ErrorReason.PASSKEY_REFUSED, `${why}; begin again`, { cause });
}
