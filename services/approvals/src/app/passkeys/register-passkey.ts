import { createHash, randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type {
  InvitePasskeyResponse,
  Passkey,
  RegisterPasskeyRequest,
  RevokePasskeyRequest,
  StoredPasskey,
} from "@reeve/contracts/passkey";
import {
  CeremonyKind,
  InvitePasskeyResponseSchema,
  PasskeySchema,
  StoredPasskeySchema,
} from "@reeve/contracts/passkey";
import { Failure } from "@reeve/platform/failure";
import { readCeremony, storeCeremony, useCeremony } from "./ceremonies.ts";
import { changePasskeys, isFor, passkeysOf } from "./person-passkeys.ts";
import type { PasskeyPorts, Person } from "./passkey-ports.ts";
import { siteOf } from "./passkey-ports.ts";
import {
  challengeIn,
  knownTransports,
  registrationOptions,
  verifiedRegistration,
} from "./webauthn.ts";

const invitationMs = 24 * 3_600_000;
const registrationMs = 5 * 60_000;
const maxPasskeys = 10;

/** Invites a person to register one passkey. */
export async function invitePasskey(
  ports: PasskeyPorts,
  person: Person,
  invitedBy: string,
  signal: AbortSignal,
): Promise<InvitePasskeyResponse> {
  siteOf(ports);
  const secret = randomBytes(32);
  const invitation = { person, secret, kind: CeremonyKind.INVITATION };
  const more = { lifetimeMs: invitationMs, invitedBy };
  const expiresAt = await storeCeremony(ports, invitation, more, signal);
  const code = secret.toString("base64url");
  return create(InvitePasskeyResponseSchema, { invitation: code, expiresAt });
}

/** Begins the registration of a passkey of an invited person, and returns what the browser needs. */
export async function beginRegistration(
  ports: PasskeyPorts,
  person: Person,
  invitation: string,
  signal: AbortSignal,
) {
  const site = siteOf(ports);
  await readCeremony(ports, invitationOf(person, invitation), signal);
  const all = await passkeysOf(ports, person, signal);
  const existing = all.filter((each) => isFor(each, site));
  if (existing.length >= maxPasskeys) throw tooMany(person);
  const secret = new Uint8Array(randomBytes(32));
  const ceremony = { person, secret, kind: CeremonyKind.REGISTRATION };
  await storeCeremony(ports, ceremony, { lifetimeMs: registrationMs }, signal);
  const { tenant, subject } = person;
  const userId = new Uint8Array(createHash("sha256").update(`${tenant}\0${subject}`).digest());
  return await registrationOptions(site, { subject, userId, challenge: secret, existing });
}

/** Registers a passkey of an invited person, and uses up the invitation. */
export async function registerPasskey(
  ports: PasskeyPorts,
  person: Person,
  { invitation, name, response = {} }: RegisterPasskeyRequest,
  signal: AbortSignal,
): Promise<Passkey> {
  const site = siteOf(ports);
  const invited = await readCeremony(ports, invitationOf(person, invitation), signal);
  const challenge = await challengeIn(response);
  const ceremony = { person, secret: challenge, kind: CeremonyKind.REGISTRATION };
  await readCeremony(ports, ceremony, signal);
  const {
    id,
    publicKey,
    counter,
    transports = [],
  } = await verifiedRegistration(site, {
    response,
    challenge,
  });
  const withNew = (now: readonly StoredPasskey[], added: StoredPasskey) => {
    // Those of a former address of the deployment confirm nothing any more.
    const others = now.filter((each) => each.passkey?.credentialId !== id && isFor(each, site));
    if (others.length >= maxPasskeys) throw tooMany(person);
    return [...others, added];
  };
  const passkey = create(PasskeySchema, {
    credentialId: id,
    name,
    registeredAt: timestampFromMs(ports.clock.now()),
    invitedBy: invited.invitedBy,
  });
  const stored = create(StoredPasskeySchema, {
    passkey,
    publicKey,
    counter,
    transports: knownTransports(transports),
    rpId: site.rpId,
  });
  // The invitation stays valid if the passkey cannot be added, as far as that is known before.
  withNew(await passkeysOf(ports, person, signal), stored);
  await useCeremony(ports, ceremony, signal);
  await useCeremony(ports, invitationOf(person, invitation), signal);
  await changePasskeys(ports, person, (now) => withNew(now, stored), signal);
  return passkey;
}

/** Lists the passkeys of a person, oldest first. */
export async function listPasskeys(
  ports: Pick<PasskeyPorts, "passkeys">,
  person: Person,
  signal: AbortSignal,
): Promise<Passkey[]> {
  const stored = await passkeysOf(ports, person, signal);
  return stored.flatMap(({ passkey }) => passkey ?? []);
}

/** Revokes a passkey of a person: it confirms nothing from then on. Returns whether it existed. */
export async function revokePasskey(
  ports: Pick<PasskeyPorts, "passkeys">,
  person: Person,
  { credentialId }: Pick<RevokePasskeyRequest, "credentialId">,
  signal: AbortSignal,
): Promise<boolean> {
  let existed = false;
  await changePasskeys(
    ports,
    person,
    (now) => {
      const others = now.filter(({ passkey }) => passkey?.credentialId !== credentialId);
      existed = others.length < now.length;
      return existed ? others : undefined;
    },
    signal,
  );
  return existed;
}

function invitationOf(person: Person, code: string) {
  const secret = Buffer.from(code, "base64url");
  return { person, secret, kind: CeremonyKind.INVITATION };
}

function tooMany({ subject }: Person): Failure {
  const message = `${subject} has ${maxPasskeys} passkeys; revoke one of them first`;
  return new Failure("exhausted", ErrorReason.TOO_LARGE, message);
}
