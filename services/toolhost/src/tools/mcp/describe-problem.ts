import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";

const maxCharacters = 500;
const maxCauses = 5;

/** Returns the message of an error and of its causes, in one line for a model or an operator to read. */
export function describeProblem(error: unknown): string {
  const messages: string[] = [];
  let next = error;
  for (let depth = 0; depth < maxCauses && next !== undefined && next !== null; depth++) {
    const message = messageOf(next);
    const isNew = message !== "" && !messages.some((earlier) => earlier.includes(message));
    if (isNew) messages.push(message);
    next = next instanceof Error ? next.cause : undefined;
  }
  // Before it is cut, perhaps in the middle of a secret.
  const line = processRedaction.text(messages.join(": ").replaceAll(/\s+/g, " "));
  return line.slice(0, maxCharacters) || "the cause is unknown";
}

/** A refused connection to a name with several addresses has no message itself; the errors that it contains have one. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
