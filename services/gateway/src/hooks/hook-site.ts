import { toJsonString } from "@bufbuild/protobuf";
import { FiringOutcome, FiringSchema } from "@reeve/contracts/trigger";
import { Failure } from "@reeve/platform/failure";
import { BodyReader } from "@reeve/platform/rpc/body/body-reader";
import type { RequestBytes } from "@reeve/platform/rpc/body/held-bytes";
import { HeldBytes } from "@reeve/platform/rpc/body/held-bytes";
import { addressGroup } from "@reeve/platform/rpc/http/address-group";
import type { HttpRequest, HttpResponse } from "@reeve/platform/rpc/http/http-handler";
import type { PlainSite } from "@reeve/platform/rpc/http/plain-site";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { counter } from "@reeve/platform/telemetry/metrics";
import type { Received } from "../app/triggers/webhook/receive-webhook.ts";
import type { SignedRequest } from "../app/triggers/webhook/verify-signature.ts";
import type { TriggerKey } from "../app/triggers/trigger-records.ts";

const prefix = "/v1/hooks/";
const addressPattern = /^\/v1\/hooks\/([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9-]{0,62})$/;
/** The maximum size of a body, in bytes. */
const maxHookBytes = 262_144;
/** How long a body may take to arrive, and a webhook to be handled. */
const bodyMs = 10_000;
const handleMs = 30_000;
/** How many bytes of unfinished requests are held. One network may hold half of them. */
const maxHeldBytes = 16 * 1024 * 1024;

const requests = counter({
  name: "reeve_webhooks_total",
  help: "Webhooks by what became of them.",
  labels: ["outcome"],
});

/** What handles webhooks. */
export interface HookHandler {
  receive(key: TriggerKey, request: SignedRequest, signal: AbortSignal): Promise<Received>;
}

/** An answer to a webhook. */
interface HookAnswer {
  readonly status: number;
  readonly outcome: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Serves the addresses of triggers with a webhook, which need no credential but the signature. Whatever is wrong with a request that
 * is not signed, the answer is the same 401. `ending` aborts when the gateway shuts down.
 */
export function hookSite(handler: HookHandler, log: Logger, ending: AbortSignal): PlainSite {
  const held = new HeldBytes(maxHeldBytes);
  return (request, response) => {
    const [path = ""] = (request.url ?? "").split("?", 1);
    if (!path.startsWith(prefix)) return false;
    const answer = request.method === "POST" ? receive(request, path) : Promise.resolve(onlyPost);
    answer
      .catch((error: unknown) => answerOf(error, log, ending))
      .then((given) => send(response, given))
      .catch((error: unknown) => log.debug({ err: error }, "a webhook was not answered"));
    return true;
  };

  async function receive(request: HttpRequest, path: string): Promise<HookAnswer> {
    const [, tenant, trigger] = addressPattern.exec(path) ?? [];
    const account = held.open(() => addressGroup(request.socket.remoteAddress ?? ""));
    try {
      const body = await readBody(request, account);
      if (body === undefined) return broken;
      if (body.length > maxHookBytes) return tooLarge;
      if (tenant === undefined || trigger === undefined) return unsigned;
      const signal = AbortSignal.any([ending, AbortSignal.timeout(handleMs)]);
      const signed = {
        webhookId: headerOf(request, "webhook-id"),
        timestamp: headerOf(request, "webhook-timestamp"),
        signature: headerOf(request, "webhook-signature"),
        body,
      };
      return answerTo(await handler.receive({ tenant, trigger }, signed, signal));
    } finally {
      account.release();
    }
  }
}

/** Returns the body of a request, or more than the maximum of it. Undefined: the client is gone. */
async function readBody(request: HttpRequest, held: RequestBytes): Promise<Buffer | undefined> {
  try {
    return await new BodyReader(request, held, bodyMs).read(maxHookBytes + 1);
  } catch (error) {
    if (error instanceof Failure) throw error;
    return undefined;
  }
}

const broken: HookAnswer = {
  status: 400,
  outcome: "broken",
  text: errorText("the body is not complete"),
};

const onlyPost: HookAnswer = {
  status: 405,
  outcome: "wrong_method",
  text: errorText("send webhooks with POST"),
  headers: { allow: "POST" },
};

const unsigned: HookAnswer = {
  status: 401,
  outcome: "refused",
  text: errorText("the signature of the webhook is not valid"),
};

const tooLarge: HookAnswer = {
  status: 413,
  outcome: "too_large",
  text: errorText(`the body has more than ${maxHookBytes} bytes`),
  headers: { connection: "close" },
};

function answerTo(received: Received): HookAnswer {
  switch (received.kind) {
    case "refused":
      return unsigned;
    case "malformed":
      return { status: 400, outcome: "malformed", text: errorText(received.problem) };
    case "inactive":
      return { status: 409, outcome: "inactive", text: errorText(received.problem) };
    case "limited":
      return later(received, "limited", "too many webhooks for this trigger; retry later");
    case "full":
      return later(received, "full", received.problem);
    case "fired": {
      const { firing } = received;
      const isFailed = firing.outcome === FiringOutcome.FAILED;
      const outcome = isFailed ? "failed" : "accepted";
      return { status: isFailed ? 422 : 200, outcome, text: toJsonString(FiringSchema, firing) };
    }
  }
}

/** Returns the answer to a webhook that is to be sent again. */
function later(
  { retryAfterMs }: { readonly retryAfterMs: number },
  outcome: string,
  problem: string,
): HookAnswer {
  const headers = { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) };
  return { status: 429, outcome, text: errorText(problem), headers };
}

function answerOf(error: unknown, log: Logger, ending: AbortSignal): HookAnswer {
  const isLate = error instanceof DOMException && error.name === "TimeoutError";
  const isBusy =
    error instanceof Failure && (error.kind === "unavailable" || error.kind === "exhausted");
  if (isLate || isBusy || ending.aborted) {
    const text = errorText("the webhook cannot be handled now; retry later");
    return { status: 503, outcome: "unavailable", text, headers: { "retry-after": "5" } };
  }
  log.error({ err: error }, "a webhook was not handled");
  return { status: 500, outcome: "error", text: errorText("internal error") };
}

function send(response: HttpResponse, { status, outcome, text, headers = {} }: HookAnswer): void {
  requests.inc({ outcome });
  const isHttp2 = "stream" in response;
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.setHeader("cache-control", "no-store");
  for (const [name, value] of Object.entries(headers)) {
    if (name !== "connection" || !isHttp2) response.setHeader(name, value);
  }
  response.end(text);
}

function errorText(message: string): string {
  return JSON.stringify({ error: message });
}

function headerOf({ headers }: HttpRequest, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? undefined : value;
}
