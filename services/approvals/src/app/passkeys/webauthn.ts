import type { JsonObject } from "@bufbuild/protobuf";
import type { PasskeySite } from "@reeve/agent/deciders/passkey-site";
import type { StoredPasskey } from "@reeve/contracts/passkey";
import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  RegistrationResponseJSON,
  WebAuthnCredential,
} from "@simplewebauthn/server";
import { passkeyRefused } from "./passkey-ports.ts";

/** Only deployments with passkeys load the library, which needs some megabytes. */
const library = () => import("@simplewebauthn/server");
const helpers = () => import("@simplewebauthn/server/helpers");

/** How browsers reach authenticators. */
const transports = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"];

/** How large the response of an authenticator may be, as JSON. */
const maxResponse = 16_384;

/** How long the id of a credential may be by WebAuthn, as base64url: 1,023 bytes. */
const maxCredentialId = 1_364;

interface Registering {
  readonly subject: string;
  /** A stable id of the person, which says nothing about them. */
  readonly userId: Uint8Array<ArrayBuffer>;
  readonly challenge: Uint8Array<ArrayBuffer>;
  readonly existing: readonly StoredPasskey[];
}

/** Returns what a browser needs to create a passkey. */
export async function registrationOptions(
  { rpId }: PasskeySite,
  { subject, userId, challenge, existing }: Registering,
): Promise<JsonObject> {
  const { generateRegistrationOptions } = await library();
  const options = await generateRegistrationOptions({
    rpName: "Reeve",
    rpID: rpId,
    userName: subject,
    userID: userId,
    challenge,
    attestationType: "none",
    excludeCredentials: existing.map(descriptorOf),
    authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
  });
  return asJson(options);
}

/** Returns what a browser needs to sign a challenge with one of the passkeys. */
export async function confirmationOptions(
  { rpId }: PasskeySite,
  challenge: Uint8Array<ArrayBuffer>,
  existing: readonly StoredPasskey[],
): Promise<JsonObject> {
  const { generateAuthenticationOptions } = await library();
  const options = await generateAuthenticationOptions({
    rpID: rpId,
    challenge,
    allowCredentials: existing.map(descriptorOf),
    userVerification: "required",
  });
  return asJson(options);
}

/** Returns the challenge that a response says it is for. Throws a Failure of kind `denied` if the response is malformed. */
export async function challengeIn(response: JsonObject): Promise<Uint8Array<ArrayBuffer>> {
  return await refusing(async () => {
    assertSize(response);
    const { decodeClientDataJSON } = await helpers();
    // The library checks the shape as it decodes.
    const { clientDataJSON } = (response as unknown as RegistrationResponseJSON).response;
    const { challenge, crossOrigin } = decodeClientDataJSON(clientDataJSON);
    if (crossOrigin === true) throw new Error("it was made in a page of another site");
    return new Uint8Array(Buffer.from(challenge, "base64url"));
  });
}

/** A response, and the challenge that it must be for. */
interface Response {
  readonly response: JsonObject;
  readonly challenge: Uint8Array;
}

/** Returns the credential of a response that a person created with a verified authenticator. Throws a Failure of kind `denied` otherwise. */
export async function verifiedRegistration(
  { origin, rpId }: PasskeySite,
  { response, challenge }: Response,
): Promise<WebAuthnCredential> {
  return await refusing(async () => {
    assertSize(response);
    // The library checks the shape as it verifies.
    const given = response as unknown as RegistrationResponseJSON;
    await assertNoCertificates(given);
    const { verifyRegistrationResponse } = await library();
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: given,
      expectedChallenge: Buffer.from(challenge).toString("base64url"),
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
    });
    if (!verified) throw new Error("the signature does not match");
    const { credential } = registrationInfo;
    // The library reads the id that the authenticator signed, and compares it with nothing.
    if (credential.id.length > maxCredentialId) throw new Error("its credential id is too long");
    if (credential.id !== given.id) throw new Error("it has two credential ids");
    return credential;
  });
}

/** Returns the counter of an authenticator that signed a challenge with a passkey. Throws a Failure of kind `denied` otherwise. */
export async function verifiedCounter(
  { origin, rpId }: PasskeySite,
  { response, challenge }: Response,
  stored: StoredPasskey,
): Promise<number> {
  return await refusing(async () => {
    assertSize(response);
    const { verifyAuthenticationResponse } = await library();
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      // The library checks the shape as it verifies.
      response: response as unknown as AuthenticationResponseJSON,
      expectedChallenge: Buffer.from(challenge).toString("base64url"),
      expectedOrigin: origin,
      expectedRPID: rpId,
      credential: {
        ...descriptorOf(stored),
        publicKey: new Uint8Array(stored.publicKey),
        counter: stored.counter,
      },
      requireUserVerification: true,
    });
    if (!verified) throw new Error("the signature does not match");
    return authenticationInfo.newCounter;
  });
}

/** Returns those of the transports that WebAuthn names: a browser may name others, and a response anything. */
export function knownTransports(named: readonly unknown[]): string[] {
  return transports.filter((each) => named.includes(each));
}

function descriptorOf(stored: StoredPasskey) {
  return {
    id: stored.passkey?.credentialId ?? "",
    // The type of the library lacks the newest ones.
    transports: knownTransports(stored.transports) as AuthenticatorTransport[],
  };
}

/** Certificates are not asked for, and name addresses at which the library would look for revocations. */
async function assertNoCertificates({ response }: RegistrationResponseJSON): Promise<void> {
  const { decodeAttestationObject } = await helpers();
  const decoded = decodeAttestationObject(
    new Uint8Array(Buffer.from(response.attestationObject, "base64url")),
  );
  const fmt = decoded.get("fmt");
  const isSelfSigned = fmt === "packed" && decoded.get("attStmt").get("x5c") === undefined;
  if (fmt !== "none" && !isSelfSigned) {
    throw new Error(`an attestation of the format ${fmt} with certificates was not asked for`);
  }
}

function assertSize(response: JsonObject): void {
  if (JSON.stringify(response).length > maxResponse) throw new Error("it is too large");
}

function asJson(options: object): JsonObject {
  return JSON.parse(JSON.stringify(options)) as JsonObject;
}

async function refusing<Result>(check: () => Promise<Result>): Promise<Result> {
  try {
    return await check();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw passkeyRefused(`the response of the authenticator is not valid: ${why}`, error);
  }
}
