import type { KeyObject } from "node:crypto";
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";

/** What a response differs in from what was asked for. */
interface Deviation {
  readonly origin?: string;
  readonly rpId?: string;
  /** Value of the counter. Default: one more than before. */
  readonly counter?: number;
  /** Default: true. */
  readonly verifiesUser?: boolean;
  /** Whether it was made in a page of another site. Default: false. */
  readonly crossOrigin?: boolean;
}

/** A passkey without a device: an ES256 key that signs what WebAuthn asks for. */
export class SoftwareAuthenticator {
  readonly #id: Buffer;
  readonly #key: KeyObject;
  readonly #publicKey: Buffer;
  readonly #site: { readonly origin: string; readonly rpId: string };
  #counter = 0;

  constructor(
    site: { readonly origin: string; readonly rpId: string },
    { idBytes = 16 }: { readonly idBytes?: number } = {},
  ) {
    this.#site = site;
    this.#id = randomBytes(idBytes);
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#key = privateKey;
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    // COSE: kty EC2, alg ES256, crv P-256, x, y.
    this.#publicKey = Buffer.concat([
      Buffer.from("a5010203262001215820", "hex"),
      Buffer.from(x, "base64url"),
      Buffer.from("225820", "hex"),
      Buffer.from(y, "base64url"),
    ]);
  }

  get credentialId(): string {
    return this.#id.toString("base64url");
  }

  /** Returns the response to the options of a registration. */
  register(options: JsonObject | undefined, deviation: Deviation = {}): JsonObject {
    const credential = Buffer.concat([
      Buffer.alloc(16),
      uint16(this.#id.length),
      this.#id,
      this.#publicKey,
    ]);
    const data = this.#authenticatorData(deviation, 0x40, credential);
    // CBOR: { fmt: "none", attStmt: {}, authData }.
    const attestation = Buffer.concat([
      Buffer.from("a363666d74646e6f6e656761747453746d74a068617574684461746159", "hex"),
      uint16(data.length),
      data,
    ]);
    return this.#response({
      clientDataJSON: this.#clientData("webauthn.create", options, deviation).toString("base64url"),
      attestationObject: attestation.toString("base64url"),
      transports: ["internal"],
    });
  }

  /** Returns the response to the options of a confirmation. */
  confirm(options: JsonObject | undefined, deviation: Deviation = {}): JsonObject {
    this.#counter = deviation.counter ?? this.#counter + 1;
    const data = this.#authenticatorData(deviation, 0, Buffer.alloc(0));
    const client = this.#clientData("webauthn.get", options, deviation);
    const signed = Buffer.concat([data, createHash("sha256").update(client).digest()]);
    return this.#response({
      clientDataJSON: client.toString("base64url"),
      authenticatorData: data.toString("base64url"),
      signature: sign("sha256", signed, this.#key).toString("base64url"),
    });
  }

  #response(response: JsonObject): JsonObject {
    const { credentialId: id } = this;
    return { id, rawId: id, type: "public-key", clientExtensionResults: {}, response };
  }

  #clientData(
    type: string,
    options: JsonObject | undefined,
    { origin, crossOrigin = false }: Deviation,
  ): Buffer {
    const challenge = options?.["challenge"] ?? "";
    const data = { type, challenge, origin: origin ?? this.#site.origin, crossOrigin };
    return Buffer.from(JSON.stringify(data));
  }

  #authenticatorData(
    { rpId, verifiesUser = true }: Deviation,
    flags: number,
    credential: Buffer,
  ): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.#counter);
    return Buffer.concat([
      createHash("sha256")
        .update(rpId ?? this.#site.rpId)
        .digest(),
      Buffer.from([flags | 0x01 | (verifiesUser ? 0x04 : 0)]),
      counter,
      credential,
    ]);
  }
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
