import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { PasskeySite } from "@reeve/agent/deciders/passkey-site";
import { bucketOf } from "@reeve/contracts/channel";
import { changeRow } from "@reeve/jetstream/table/change-row";
import type { StoredPasskey } from "@reeve/contracts/passkey";
import { PersonPasskeysSchema } from "@reeve/contracts/passkey";
import type { PasskeyPorts, Person } from "./passkey-ports.ts";

const { key: personKey } = bucketOf(PersonPasskeysSchema);

/** Returns the passkeys of a person, oldest first. */
export async function passkeysOf(
  { passkeys }: Pick<PasskeyPorts, "passkeys">,
  person: Person,
  signal: AbortSignal,
): Promise<readonly StoredPasskey[]> {
  return (await passkeys.get(keyOf(person), signal))?.record.passkeys ?? [];
}

/** Whether browsers offer a passkey on a host. Of one that an earlier version stored, that is not known. */
export function isFor({ rpId }: StoredPasskey, site: Pick<PasskeySite, "rpId">): boolean {
  return rpId === "" || rpId === site.rpId;
}

/**
 * Replaces the passkeys of a person by what `change` returns, or leaves them if that is undefined. It is called again when another
 * process has changed them meanwhile.
 */
export async function changePasskeys(
  { passkeys }: Pick<PasskeyPorts, "passkeys">,
  person: Person,
  change: (now: readonly StoredPasskey[]) => readonly StoredPasskey[] | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { subject } = person;
  await changeRow(
    passkeys,
    { key: keyOf(person), name: `the passkeys of ${subject}` },
    (now) => {
      const next = change(now?.passkeys ?? []);
      return next && create(PersonPasskeysSchema, { subject, passkeys: [...next] });
    },
    signal,
  );
}

function keyOf({ tenant, subject }: Person): string {
  return personKey({ tenant, person: createHash("sha256").update(subject).digest("hex") });
}
