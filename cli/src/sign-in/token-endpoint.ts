import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { fetchJson } from "@reeve/platform/oidc/fetch-json";
import { z } from "zod";
import type { SignIn } from "./stored-sign-ins.ts";

const tokens = z.object({
  access_token: z.string().regex(/^\S+$/),
  token_type: z.string().regex(/^bearer$/i, "is not `Bearer`"),
  expires_in: z.number().positive().optional(),
  refresh_token: z.string().optional(),
});

const refusal = z.object({ error: z.string(), error_description: z.string().optional() });

/** The parts of a sign-in that a new token replaces. */
export type Tokens = Pick<SignIn, "accessToken" | "expiresAt" | "refreshToken">;

/** What a token endpoint answers: tokens, or one of the errors of OAuth 2.0, such as `invalid_grant`. */
export type TokenAnswer =
  | { readonly kind: "tokens"; readonly tokens: Tokens }
  | { readonly kind: "refused"; readonly error: string; readonly description: string };

/**
 * Requests tokens. Throws a Failure of kind `unavailable` if the provider gives no usable answer. A provider that issues no
 * new refresh token keeps the old one valid.
 */
export async function requestTokens(
  endpoint: string,
  parameters: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<TokenAnswer> {
  const body = await postForm(endpoint, parameters, signal);
  const refused = refusal.safeParse(body);
  if (refused.success) {
    const { error, error_description: description = error } = refused.data;
    return { kind: "refused", error, description };
  }
  const granted = tokens.safeParse(body);
  if (!granted.success) throw unusable(endpoint, granted.error);
  const { access_token: accessToken, expires_in: seconds, refresh_token } = granted.data;
  const refreshToken = refresh_token ?? parameters["refresh_token"];
  return {
    kind: "tokens",
    tokens: {
      accessToken,
      ...(seconds !== undefined && { expiresAt: Date.now() + seconds * 1_000 }),
      ...(refreshToken !== undefined && { refreshToken }),
    },
  };
}

/** Sends a form, and returns the JSON of the answer. */
export async function postForm(
  endpoint: string,
  parameters: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<unknown> {
  const request = { method: "POST", body: new URLSearchParams(parameters) };
  return (await fetchJson(endpoint, request, signal)).body;
}

/** Returns the Failure of an answer that is not what the endpoint has to answer. */
export function unusable(endpoint: string, error: z.ZodError): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `${endpoint} gives an answer that is not usable: ${z.prettifyError(error)}; check --issuer`,
  );
}
