import { ErrorReason } from "@reeve/contracts/error";
import { z } from "zod";
import { isLoopback } from "../config.ts";
import { Failure } from "../failure.ts";
import { fetchJson } from "./fetch-json.ts";

/** A URL that nobody on the network can answer in the place of its host: HTTPS, or HTTP to this machine. */
export const secureUrl = z
  .url()
  .refine(isSecure, "must begin with https:// (http:// is for loopback addresses only)");

const discovery = z.object({
  issuer: z.string(),
  jwks_uri: secureUrl.optional(),
  token_endpoint: secureUrl.optional(),
  device_authorization_endpoint: secureUrl.optional(),
  revocation_endpoint: secureUrl.optional(),
});

/** What an identity provider publishes about itself. */
export type Discovery = z.infer<typeof discovery>;

/**
 * Reads what an OpenID Connect provider publishes about itself. Throws a Failure of kind `unavailable` if the provider gives
 * no usable answer, and of kind `precondition` if the answer is about another issuer.
 */
export async function readDiscovery(issuer: string, signal: AbortSignal): Promise<Discovery> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const { status, body } = await fetchJson(url, {}, signal);
  if (status !== 200) {
    throw new Failure(
      "unavailable",
      ErrorReason.UNAVAILABLE,
      `${url} answers with status ${status}; check that the issuer is an OpenID Connect provider`,
    );
  }
  const parsed = discovery.safeParse(body);
  if (!parsed.success) {
    throw unusable(`${url} is not usable: ${z.prettifyError(parsed.error)}`);
  }
  if (parsed.data.issuer !== issuer) {
    throw unusable(
      `${url} is about the issuer ${parsed.data.issuer}; use exactly this text as the issuer if you trust it`,
    );
  }
  return parsed.data;
}

function unusable(message: string): Failure {
  return new Failure("precondition", ErrorReason.INVALID_REQUEST, message);
}

function isSecure(text: string): boolean {
  const url = URL.parse(text);
  if (url?.protocol === "https:") return true;
  return url?.protocol === "http:" && isLoopback(url.hostname.replace(/^\[|\]$/g, ""));
}
