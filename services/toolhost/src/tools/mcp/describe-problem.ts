const maxCharacters = 500;
const maxCauses = 5;

/** What went wrong, with what was behind it, in one line that a model and an operator can read. */
export function describeProblem(error: unknown): string {
  const said: string[] = [];
  let next = error;
  for (let depth = 0; depth < maxCauses && next !== undefined && next !== null; depth++) {
    const message = messageOf(next);
    if (message !== "" && !said.some((earlier) => earlier.includes(message))) said.push(message);
    next = next instanceof Error ? next.cause : undefined;
  }
  return said.join(": ").replaceAll(/\s+/g, " ").slice(0, maxCharacters) || "it is not known why";
}

/** A refused connection to a name with several addresses says nothing itself; its parts do. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
