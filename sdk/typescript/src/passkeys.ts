import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Passkey } from "#contracts/passkey";
import type { CallOptions } from "./call-options.ts";
import type { Requests } from "./requests.ts";

/** The passkeys of people, with which they confirm approvals in the console. */
export class Passkeys {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Invites a person to register one passkey, and returns the code for them. Needs the role `operator`. */
  async invite(
    personId: string,
    options: CallOptions = {},
  ): Promise<{ readonly invitation: string; readonly expiresAt: Date | undefined }> {
    const { invitation, expiresAt } = await this.#requests.once(
      ({ passkeys }, call) => passkeys.invitePasskey({ personId }, call),
      options,
    );
    return { invitation, expiresAt: expiresAt && timestampDate(expiresAt) };
  }

  /** Lists the passkeys of the caller, or of another person, which needs the role `operator`. */
  async list(personId = "", options: CallOptions = {}): Promise<readonly Passkey[]> {
    const { passkeys: listed } = await this.#requests.once(
      ({ passkeys }, call) => passkeys.listPasskeys({ personId }, call),
      options,
    );
    return listed;
  }

  /** Revokes a passkey of the caller, or of another person, which needs the role `operator`. Returns whether it existed. */
  async revoke(
    { credentialId, personId = "" }: { readonly credentialId: string; readonly personId?: string },
    options: CallOptions = {},
  ): Promise<boolean> {
    const { existed } = await this.#requests.once(
      ({ passkeys }, call) => passkeys.revokePasskey({ personId, credentialId }, call),
      options,
    );
    return existed;
  }
}
