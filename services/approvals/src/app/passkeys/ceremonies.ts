import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import type { CeremonyKind, PasskeyCeremony } from "@reeve/contracts/passkey";
import { PasskeyCeremonySchema } from "@reeve/contracts/passkey";
import type { Row } from "@reeve/jetstream/table/port";
import type { PasskeyPorts, Person } from "./passkey-ports.ts";
import { passkeyRefused } from "./passkey-ports.ts";

type CeremonyPorts = Pick<PasskeyPorts, "ceremonies" | "clock">;

/** A ceremony of a person, by the secret that the person returns: a challenge, or the code of an invitation. */
interface CeremonyOf {
  readonly person: Person;
  readonly secret: Uint8Array;
  readonly kind: CeremonyKind;
}

const { key: ceremonyKey } = bucketOf(PasskeyCeremonySchema);

/** Stores a ceremony until it is taken or expires. The store has only a digest of the secret. Returns when it expires. */
export async function storeCeremony(
  { ceremonies, clock }: CeremonyPorts,
  { person, secret, kind }: CeremonyOf,
  more: { readonly lifetimeMs: number } & Pick<
    Exclude<MessageInitShape<typeof PasskeyCeremonySchema>, PasskeyCeremony>,
    "nonce" | "invitedBy"
  >,
  signal: AbortSignal,
) {
  const { lifetimeMs, ...others } = more;
  const expiresAt = timestampFromMs(clock.now() + lifetimeMs);
  const ceremony = { kind, subject: person.subject, expiresAt, ...others };
  await ceremonies.put(keyOf(person, secret), create(PasskeyCeremonySchema, ceremony), signal);
  return expiresAt;
}

/** Returns a ceremony. Throws a Failure of kind `denied` unless it is of this person and kind, is not taken, and has not expired. */
export async function readCeremony(
  { ceremonies, clock }: CeremonyPorts,
  { person, secret, kind }: CeremonyOf,
  signal: AbortSignal,
): Promise<Row<PasskeyCeremony>> {
  const row = await ceremonies.get(keyOf(person, secret), signal);
  const { record } = row ?? {};
  const isValid =
    record?.kind === kind &&
    record.subject === person.subject &&
    record.expiresAt !== undefined &&
    timestampMs(record.expiresAt) > clock.now();
  if (row === undefined || !isValid) {
    throw passkeyRefused("it is for somebody or something else, was used, or has expired");
  }
  return row;
}

/** Uses a ceremony up. Throws a Failure of kind `denied` if it is used: of several that use it at a time, one does. */
export async function useCeremony(
  { ceremonies }: CeremonyPorts,
  { key, revision }: Row<PasskeyCeremony>,
  signal: AbortSignal,
): Promise<void> {
  if (await ceremonies.deleteVersion(key, revision, signal)) return;
  throw passkeyRefused("it was used");
}

function keyOf({ tenant }: Person, secret: Uint8Array): string {
  const ceremony = createHash("sha256").update(secret).digest("hex");
  return ceremonyKey({ tenant, ceremony });
}
