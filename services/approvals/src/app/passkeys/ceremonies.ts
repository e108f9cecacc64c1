import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import { changeRow } from "@reeve/jetstream/table/change-row";
import type { PasskeyCeremony } from "@reeve/contracts/passkey";
import {
  CeremonyKind,
  PasskeyCeremonySchema,
  PersonCeremoniesSchema,
} from "@reeve/contracts/passkey";
import type { PasskeyPorts, Person } from "./passkey-ports.ts";
import { passkeyRefused } from "./passkey-ports.ts";

type CeremonyPorts = Pick<PasskeyPorts, "ceremonies" | "clock">;

/** A ceremony of a person, by the secret that the person returns: a challenge, or the code of an invitation. */
interface CeremonyOf {
  readonly person: Person;
  readonly secret: Uint8Array;
  readonly kind: CeremonyKind;
}

/**
 * How many ceremonies of a kind a person may have begun. One more replaces the oldest: an operator withdraws an invitation with the next
 * one.
 */
const maxOpen = (kind: CeremonyKind) => (kind === CeremonyKind.INVITATION ? 1 : 8);

const { key: ceremoniesKey } = bucketOf(PersonCeremoniesSchema);

/** Stores a ceremony until it is taken or expires. The store has only a digest of the secret. Returns when it expires. */
export async function storeCeremony(
  ports: CeremonyPorts,
  { person, secret, kind }: CeremonyOf,
  more: { readonly lifetimeMs: number } & Pick<
    Exclude<MessageInitShape<typeof PasskeyCeremonySchema>, PasskeyCeremony>,
    "nonce" | "invitedBy"
  >,
  signal: AbortSignal,
) {
  const { lifetimeMs, ...others } = more;
  const nowMs = ports.clock.now();
  const expiresAt = timestampFromMs(nowMs + lifetimeMs);
  const { subject } = person;
  const secretDigest = digestOf(secret);
  const init = { kind, subject, expiresAt, secretDigest, ...others };
  const ceremony = create(PasskeyCeremonySchema, init);
  await changeCeremonies(
    ports,
    person,
    (now) => {
      const open = now.filter((each) => isOpen(each, nowMs));
      const ofKind = open.filter((each) => each.kind === kind);
      const dropped = ofKind.slice(0, Math.max(0, ofKind.length + 1 - maxOpen(kind)));
      return [...open.filter((each) => !dropped.includes(each)), ceremony];
    },
    signal,
  );
  return expiresAt;
}

/** Returns a ceremony. Throws a Failure of kind `denied` unless it is of this person and kind, is not taken, and has not expired. */
export async function readCeremony(
  { ceremonies, clock }: CeremonyPorts,
  ceremony: CeremonyOf,
  signal: AbortSignal,
): Promise<PasskeyCeremony> {
  const row = await ceremonies.get(keyOf(ceremony.person), signal);
  const found = row?.record.ceremonies.find(isCeremony(ceremony));
  if (found === undefined || !isOpen(found, clock.now())) {
    throw passkeyRefused("it is for somebody or something else, was used, or has expired");
  }
  return found;
}

/** Uses a ceremony up. Throws a Failure of kind `denied` if it is used: of several that use it at a time, one does. */
export async function useCeremony(
  ports: CeremonyPorts,
  ceremony: CeremonyOf,
  signal: AbortSignal,
): Promise<void> {
  const isUsed = isCeremony(ceremony);
  await changeCeremonies(
    ports,
    ceremony.person,
    (now) => {
      if (!now.some(isUsed)) throw passkeyRefused("it was used");
      return now.filter((each) => !isUsed(each));
    },
    signal,
  );
}

async function changeCeremonies(
  { ceremonies: table }: CeremonyPorts,
  person: Person,
  change: (now: readonly PasskeyCeremony[]) => readonly PasskeyCeremony[],
  signal: AbortSignal,
): Promise<void> {
  const { subject } = person;
  const record = { key: keyOf(person), name: `the ceremonies of ${subject}` };
  await changeRow(
    table,
    record,
    (now) => {
      const ceremonies = [...change(now?.ceremonies ?? [])];
      return create(PersonCeremoniesSchema, { subject, ceremonies });
    },
    signal,
  );
}

function isCeremony({ person, secret, kind }: CeremonyOf): (each: PasskeyCeremony) => boolean {
  const digest = digestOf(secret);
  return (each) =>
    each.kind === kind && each.subject === person.subject && digest.equals(each.secretDigest);
}

function isOpen({ expiresAt }: PasskeyCeremony, nowMs: number): boolean {
  return expiresAt !== undefined && timestampMs(expiresAt) > nowMs;
}

function digestOf(secret: Uint8Array) {
  return createHash("sha256").update(secret).digest();
}

function keyOf({ tenant, subject }: Person): string {
  return ceremoniesKey({ tenant, person: createHash("sha256").update(subject).digest("hex") });
}
