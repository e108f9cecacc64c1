import { ErrorReason } from "@reeve/contracts/error";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import { readDiscovery } from "@reeve/platform/oidc/discovery";
import { z } from "zod";
import { UsageError } from "../exit-code.ts";
import type { SignIn } from "./stored-sign-ins.ts";
import type { TokenAnswer, Tokens } from "./token-endpoint.ts";
import { postForm, requestTokens, unusable } from "./token-endpoint.ts";

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";
/** The delay between two questions, unless the provider says another one, and how much `slow_down` adds. */
const defaultIntervalSeconds = 5;

const started = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  verification_uri_complete: z.string().optional(),
  expires_in: z.number().positive(),
  interval: z.number().positive().optional(),
});

/** What a person opens to sign in. */
export interface Verification {
  readonly uri: string;
  /** The code that the page shows or asks for. */
  readonly code: string;
}

export interface DeviceFlow extends Pick<SignIn, "issuer" | "clientId" | "parameters"> {
  /** A monotonic clock. */
  readonly clock: Clock;
  /** Shows the person what to open. */
  show(verification: Verification): void;
}

/**
 * Signs a person in at an OpenID Connect provider, in a browser on any machine (RFC 8628). Resolves when the person has
 * agreed. Throws a Failure that says what to do if the provider refuses, or if the person does not agree in time.
 */
export async function signInByDevice(flow: DeviceFlow, signal: AbortSignal): Promise<Tokens> {
  const { issuer, clientId, parameters, clock } = flow;
  const { device_authorization_endpoint: startAt, token_endpoint: tokensAt } = await readDiscovery(
    issuer,
    signal,
  );
  if (startAt === undefined || tokensAt === undefined) {
    throw new UsageError(
      `${issuer} has no device authorization; enable it for this provider, or use a token (--token)`,
    );
  }
  const device = await start(startAt, { ...parameters, client_id: clientId }, signal);
  flow.show({
    uri: device.verification_uri_complete ?? device.verification_uri,
    code: device.user_code,
  });
  const request = {
    ...parameters,
    grant_type: deviceGrant,
    client_id: clientId,
    device_code: device.device_code,
  };
  const endMs = clock.now() + device.expires_in * 1_000;
  let intervalMs = (device.interval ?? defaultIntervalSeconds) * 1_000;
  while (clock.now() < endMs) {
    await clock.sleep(intervalMs, signal);
    const answer = await poll(tokensAt, request, signal);
    if (answer === "unavailable") continue;
    if (answer.kind === "tokens") return answer.tokens;
    if (answer.error === "slow_down") intervalMs += defaultIntervalSeconds * 1_000;
    else if (answer.error !== "authorization_pending") throw refused(issuer, answer.description);
  }
  throw refused(issuer, "the code has expired");
}

async function start(
  endpoint: string,
  parameters: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<z.infer<typeof started>> {
  const body = await postForm(endpoint, parameters, signal);
  const parsed = started.safeParse(body);
  if (parsed.success) return parsed.data;
  const problem = z.object({ error: z.string(), error_description: z.string().optional() });
  const answer = problem.safeParse(body);
  if (!answer.success) throw unusable(endpoint, parsed.error);
  const { error, error_description: description } = answer.data;
  throw new UsageError(
    `${endpoint} refuses the sign-in: ${description ?? error}; check --client-id and --scope`,
  );
}

/** A provider that does not answer for a moment is asked again, until the code expires. */
async function poll(
  endpoint: string,
  parameters: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<TokenAnswer | "unavailable"> {
  try {
    return await requestTokens(endpoint, parameters, signal);
  } catch (error) {
    if (error instanceof Failure && error.kind === "unavailable") return "unavailable";
    throw error;
  }
}

function refused(issuer: string, why: string): Failure {
  return new Failure(
    "unauthenticated",
    ErrorReason.UNAUTHENTICATED,
    `${issuer} did not sign you in: ${why}; run \`reeve login\` again`,
  );
}
