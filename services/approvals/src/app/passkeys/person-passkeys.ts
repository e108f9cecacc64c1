import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { StoredPasskey } from "@reeve/contracts/passkey";
import { PersonPasskeysSchema } from "@reeve/contracts/passkey";
import { Failure } from "@reeve/platform/failure";
import type { PasskeyPorts, Person } from "./passkey-ports.ts";

const { key: personKey } = bucketOf(PersonPasskeysSchema);

/** How often a change is tried while other processes change the same record. */
const maxAttempts = 10;

/** Returns the passkeys of a person, oldest first. */
export async function passkeysOf(
  { passkeys }: Pick<PasskeyPorts, "passkeys">,
  person: Person,
  signal: AbortSignal,
): Promise<readonly StoredPasskey[]> {
  return (await passkeys.get(keyOf(person), signal))?.record.passkeys ?? [];
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
  const key = keyOf(person);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const row = await passkeys.get(key, signal);
    const next = change(row?.record.passkeys ?? []);
    if (next === undefined) return;
    const { subject } = person;
    const record = create(PersonPasskeysSchema, { subject, passkeys: [...next] });
    const written =
      row === undefined
        ? await passkeys.create(key, record, signal)
        : await passkeys.update(key, record, row.revision, signal);
    if (written !== undefined) return;
  }
  const message = `the passkeys of ${person.subject} changed ${maxAttempts} times meanwhile; try again`;
  throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}

function keyOf({ tenant, subject }: Person): string {
  return personKey({ tenant, person: createHash("sha256").update(subject).digest("hex") });
}
