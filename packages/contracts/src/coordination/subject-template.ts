/** The values of the placeholders of a template, by name: `{ tenant: "acme", run: "run_1" }`. */
export type Tokens = Readonly<Record<string, string>>;

/** A subject, or a key, with a placeholder for some of its tokens: `run.{tenant}.{run}.log`. */
export interface SubjectTemplate {
  /** Returns the subject for a set of tokens. Throws a RangeError when a token is missing, or has characters that a subject cannot have. */
  render(tokens: Tokens): string;
  /** Returns the tokens of a concrete subject, or undefined when it does not follow the template. */
  match(concrete: string): Tokens | undefined;
}

const placeholder = /\{(\w+)\}/;
const token = /^[A-Za-z0-9_=-]+$/;

/** Whether a subject or a key can have the text as one of its tokens. */
export function isToken(text: string): boolean {
  return token.test(text);
}

/** Divides a template into its parts once: several are rendered and matched for each message. */
export function subjectTemplate(template: string): SubjectTemplate {
  // The texts between the placeholders, with the names of these between them.
  const pieces = template.split(placeholder);
  const parts = template.split(".").map((text) => ({ text, name: nameIn(text) }));
  return {
    render(tokens) {
      let rendered = pieces[0] ?? "";
      for (let index = 1; index < pieces.length; index += 2) {
        const name = pieces[index] ?? "";
        const value = tokens[name];
        if (value === undefined || !isToken(value)) {
          throw new RangeError(`"${value ?? ""}" is not a valid ${name} for ${template}`);
        }
        rendered += value + (pieces[index + 1] ?? "");
      }
      return rendered;
    },
    match(concrete) {
      const actual = concrete.split(".");
      if (actual.length !== parts.length) return undefined;
      const tokens: Record<string, string> = {};
      for (let index = 0; index < parts.length; index++) {
        const { text, name } = parts[index] ?? {};
        const value = actual[index] ?? "";
        if (name !== undefined) tokens[name] = value;
        else if (text !== value) return undefined;
      }
      return tokens;
    },
  };
}

/** Returns the name of the placeholder with which a part of a template begins. */
function nameIn(part: string): string | undefined {
  return part.startsWith("{") ? part.slice(1, -1) : undefined;
}
