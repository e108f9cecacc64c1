import { Code, ReeveError } from "@reeve/client";
import { Failure } from "@reeve/platform/failure";
import { explainTlsError } from "@reeve/platform/tls/explain-tls-error";
import type { Style } from "../style.ts";
import { plainText } from "./plain-text.ts";
import { table } from "./table.ts";

/**
 * Renders an error as one sentence, followed by a table of invalid fields if there are any, which the sentence then omits.
 * `stoppedDataDir` is the data folder that the user selects, if no server of it runs.
 */
export function renderError(
  error: unknown,
  url: string | undefined,
  style: Style,
  stoppedDataDir?: string,
): string {
  const sentence = plainText(sentenceOf(error));
  if (!(error instanceof ReeveError || error instanceof Failure)) {
    return `${style("red", "error:")} ${sentence}\n`;
  }
  if (stoppedDataDir !== undefined && isOfAnotherServer(error)) {
    const folder = plainText(stoppedDataDir);
    // A server that answers has the default port.
    const start = isUnconnected(error)
      ? "start it with `reeve up`"
      : `start it with \`reeve up --listen 127.0.0.1:0\`, because another server uses ${url}`;
    return `${style("red", "error:")} no server of the data folder ${folder} is running; ${start}\n`;
  }
  const isUnreachable = url !== undefined && error instanceof ReeveError && isUnconnected(error);
  const disagreement = url === undefined ? undefined : explainTlsError(error, tlsAdvice);
  const message = disagreement
    ? `the server at ${url} ${plainText(disagreement)}`
    : isUnreachable
      ? `no Reeve server at ${url}; start one with \`reeve up\`, or set --url or REEVE_URL`
      : sentence + tokenHint(error, url);
  const rows = error.violations.map(({ field, description, reason }) =>
    [field, description, reason].map(plainText),
  );
  return `${style("red", "error:")} ${message}\n${table(["FIELD", "PROBLEM", "RULE"], rows)}`;
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof ReeveError || error instanceof Failure)) {
    return error instanceof Error ? error.message : String(error);
  }
  const { message, violations } = error;
  const list = violations
    .map(({ field, description }) => (field === "" ? description : `${field}: ${description}`))
    .join("; ");
  const end = `: ${list}`;
  return list !== "" && message.endsWith(end) ? message.slice(0, -end.length) : message;
}

const tlsAdvice = { caFile: "--ca-file or REEVE_CA_FILE" };

/** How the user gives a token, after an error of the server that one is missing or not known. */
function tokenHint(error: ReeveError | Failure, url: string | undefined): string {
  if (!(error instanceof ReeveError) || error.code !== Code.Unauthenticated) return "";
  const server = url === undefined ? "the server" : `the server at ${url}`;
  return ` (this is what ${server} says; use --token or REEVE_TOKEN, or --data-dir with its data folder, or sign in: reeve login --help)`;
}

/** Whether no server answers, or one that does not know the token of the data folder. */
function isOfAnotherServer(error: ReeveError | Failure): error is ReeveError {
  if (!(error instanceof ReeveError)) return false;
  return error.code === Code.Unauthenticated || isUnconnected(error);
}

/** Whether a cause of the error is that no connection could be opened. */
function isUnconnected(error: ReeveError): boolean {
  if (!error.isTransient) return false;
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && connectionCodes.has(String(cause.code))) return true;
  }
  return false;
}

const connectionCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
]);
