import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/browser";
import { startAuthentication, startRegistration } from "@simplewebauthn/browser";

/** Asks the person to create a passkey. Throws a ConnectError if they do not, or the browser cannot. */
export async function createPasskey(options: JsonObject | undefined): Promise<JsonObject> {
  // They are what the server made for the browser.
  const optionsJSON = options as unknown as PublicKeyCredentialCreationOptionsJSON;
  return await asked(() => startRegistration({ optionsJSON }));
}

/** Asks the person to confirm a decision with a passkey. Throws a ConnectError if they do not, or the browser cannot. */
export async function confirmWithPasskey(options: JsonObject | undefined): Promise<JsonObject> {
  // They are what the server made for the browser.
  const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON;
  return await asked(() => startAuthentication({ optionsJSON }));
}

async function asked(ceremony: () => Promise<object>): Promise<JsonObject> {
  try {
    return JSON.parse(JSON.stringify(await ceremony())) as JsonObject;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConnectError(`the passkey was not used: ${why}`, Code.FailedPrecondition);
  }
}
