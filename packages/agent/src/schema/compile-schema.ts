import type { JsonObject } from "@bufbuild/protobuf";
import type { ErrorObject, Options } from "ajv";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { countReferences } from "./count-references.ts";
import { linearPatterns } from "./linear-patterns.ts";
import { WorkBudgetExceeded, WorkBudget } from "./work-budget.ts";

/** A JSON Schema that is ready for use, or why it is none. */
export type CompiledSchema =
  | {
      readonly kind: "works";
      /** What is wrong with a value; `undefined`: it takes too much work to say. */
      readonly errorsOf: (value: JsonObject) => readonly ErrorObject[] | undefined;
      /** Patterns that are not checked, because no engine matches them in linear time. */
      readonly unsupported: readonly string[];
    }
  | { readonly kind: "broken"; readonly problem: string };

/** Units of work of one validation: characters that a state of a pattern looks at. */
const maxWork = 4_000_000;
/** Characters of a schema as JSON. */
const maxCharacters = 100_000;
const maxKnown = 1_000;

const byObject = new WeakMap<JsonObject, CompiledSchema>();
const byText = new Map<string, CompiledSchema>();

/** Compiles a schema, of draft 7 unless it says 2020-12. One that was compiled before is remembered. */
export function compileSchema(schema: JsonObject): CompiledSchema {
  const before = byObject.get(schema);
  if (before !== undefined) return before;
  const text = JSON.stringify(schema);
  const compiled = byText.get(text) ?? compileUncached(schema, text.length);
  if (byText.size >= maxKnown) byText.clear();
  byText.set(text, compiled);
  byObject.set(schema, compiled);
  return compiled;
}

/** Each with a validator of its own: one schema's `$id` must not meet another's, of another agent even. */
function compileUncached(schema: JsonObject, characters: number): CompiledSchema {
  if (characters > maxCharacters) {
    return {
      kind: "broken",
      problem: `it has ${characters} characters, more than ${maxCharacters}`,
    };
  }
  const work = new WorkBudget(maxWork);
  const unsupported: string[] = [];
  const options: Options = {
    allErrors: true,
    strict: false,
    logger: false,
    code: { regExp: linearPatterns(work, unsupported) },
  };
  // A validator that is asynchronous would say yes to everything before it has looked.
  const { $schema, $async: _, ...rest } = schema;
  const is2020 = typeof $schema === "string" && $schema.includes("2020-12");
  try {
    const ajv = is2020 ? new Ajv2020(options) : new Ajv(options);
    countReferences(ajv, work);
    const validate = ajv.compile(rest);
    const errorsOf = (value: JsonObject) => {
      try {
        work.reset();
        return validate(value) ? [] : (validate.errors ?? []);
      } catch (error) {
        // References that lead in a circle end at the one bound or at the other.
        if (error instanceof WorkBudgetExceeded || error instanceof RangeError) return undefined;
        throw error;
      }
    };
    return { kind: "works", errorsOf, unsupported };
  } catch (error) {
    return { kind: "broken", problem: error instanceof Error ? error.message : String(error) };
  }
}
