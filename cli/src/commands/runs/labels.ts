import { InvalidArgumentError } from "commander";

/** Adds `name=value`, or `name` with an empty value, to labels. Throws InvalidArgumentError for a name that is there already. */
export function collectLabels(
  text: string,
  previous: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const [name = "", ...value] = text.split("=");
  if (name === "") throw new InvalidArgumentError("Use name=value, or a name alone.");
  if (previous !== undefined && Object.hasOwn(previous, name)) {
    throw new InvalidArgumentError(`Give each label once: a run has ${name} once.`);
  }
  return { ...previous, [name]: value.join("=") };
}
