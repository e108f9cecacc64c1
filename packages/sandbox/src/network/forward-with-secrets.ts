import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Transform } from "node:stream";
import { Redaction } from "@reeve/platform/telemetry/redaction/redaction";
import type { Target } from "./call-traffic.ts";

/** How a request with added headers differs from a plain one. */
export interface SecretExchange {
  readonly headers: Readonly<Record<string, string>>;
  /** Recognizes the secrets of this request only: others may belong to other tenants, and a response would show that they exist. */
  readonly redaction: Redaction;
  readonly target: Target;
}

/**
 * Headers that are not forwarded: compressed bytes and parts of a document can contain a repeated secret that is not
 * recognized.
 */
const withheld = ["accept-encoding", "range", "if-range", "expect"];

/** Headers that a credential cannot set: they define where a message ends, or how a connection is used. */
export const reservedHeaders: ReadonlySet<string> = new Set([
  ...withheld,
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Returns why a request may not be sent with a secret; undefined if it may. */
export function refusalOfMethod({ method }: IncomingMessage): string | undefined {
  return method === "TRACE" ? "TRACE repeats the headers of a request" : undefined;
}

/** Returns the headers of a request with those of the credentials, which replace those of the client. */
export function withSecrets(
  headers: IncomingHttpHeaders,
  { headers: added }: SecretExchange,
): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !withheld.includes(name));
  return { ...Object.fromEntries(kept), "accept-encoding": "identity", ...added };
}

/** Returns what recognizes the secrets of a request in its response, in names of headers too, which are in lowercase. */
export function redactionOf(secrets: readonly string[]): Redaction {
  const redaction = new Redaction();
  for (const secret of secrets.flatMap((each) => [each, each.trim()])) {
    redaction.keep(secret);
    redaction.keep(secret.toLowerCase());
  }
  return redaction;
}

/** Returns why a response cannot be returned to a sandbox; undefined if it can. */
export function refusalOfResponse({ headers }: IncomingMessage): string | undefined {
  return isPlain(headers["content-encoding"] ?? "", "identity") &&
    isPlain(headers["transfer-encoding"] ?? "", "chunked")
    ? undefined
    : "the response is encoded in a way in which a repeated secret would not be recognized";
}

function isPlain(encoding: string, plain: string): boolean {
  return ["", plain].includes(encoding.trim().toLowerCase());
}

/** Returns the headers of a response without secrets. The length of its body may change. */
export function withoutSecrets(
  headers: IncomingHttpHeaders,
  { redaction, target }: SecretExchange,
): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => name !== "content-length");
  const redacted = redaction.json(Object.fromEntries(kept));
  const { location } = headers;
  return location === undefined
    ? redacted
    : { ...redacted, location: redaction.text(plainLocation(location, target)) };
}

/** Redacts a body as it passes. */
export function redactedBody({ redaction }: SecretExchange): Transform {
  const stream = redaction.steadyStream();
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      // One character for each byte, so that all other bytes stay as they are.
      done(null, Buffer.from(stream.push(chunk.toString("latin1")), "latin1"));
    },
    flush(done) {
      done(null, Buffer.from(stream.end(), "latin1"));
    },
  });
}

/** A redirect to the same host is followed over the proxy, which adds the header again. Others are none of its business. */
function plainLocation(location: string, { host, port }: Target): string {
  const url = URL.parse(location);
  const isSame =
    url?.protocol === "https:" &&
    url.hostname.replace(/^\[(.*)\]$/, "$1") === host &&
    Number(url.port || 443) === port;
  return isSame
    ? `http://${url.hostname}:${port}${url.pathname}${url.search}${url.hash}`
    : location;
}
