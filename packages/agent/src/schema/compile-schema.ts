import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { ErrorObject, Options } from "ajv";
import { Ajv } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { compileCost, maxCompileCost } from "./compile-cost.ts";
import { countReferences } from "./count-references.ts";
import { linearPatterns } from "./linear-patterns.ts";
import { TextCache } from "./text-cache.ts";
import { WorkBudgetExceeded, WorkBudget } from "./work-budget.ts";

/** A compiled JSON Schema, or the reason why it cannot be used. */
export type CompiledSchema =
  | {
      readonly kind: "compiled";
      /** Returns the errors of a value, or undefined when the validation takes too much work. */
      readonly errorsOf: (value: JsonObject) => readonly ErrorObject[] | undefined;
      /** Patterns that are not checked, because no engine matches them in linear time. */
      readonly unsupported: readonly string[];
    }
  | {
      readonly kind: "invalid";
      readonly problem: string;
      /** Whether it is well-formed, but takes too much work to compile. */
      readonly isCostly?: boolean;
    };

/** The work of one validation, in units of one character that one state of a pattern reads. */
const maxWork = 4_000_000;
/** The largest schema, in characters of JSON. */
const maxSchemaCharacters = 100_000;
/** The schemas that are cached by their text, in characters: a compiled schema takes up to some hundred times as many bytes. */
const maxCachedCharacters = 2_000_000;

const byObject = new WeakMap<JsonObject, CompiledSchema>();
const byText = new TextCache<CompiledSchema>(maxCachedCharacters);

/**
 * Compiles a schema by the draft that its `$schema` names, and otherwise by 2020-12. A schema that names none, and that only
 * draft 7 permits, such as one with a list of `items`, is compiled by draft 7. Caches the result.
 */
export function compileSchema(schema: JsonObject): CompiledSchema {
  const cached = byObject.get(schema);
  if (cached !== undefined) return cached;
  const text = JSON.stringify(schema);
  const compiled = byText.get(text) ?? compileUncached(schema, text.length);
  byText.set(text, compiled);
  byObject.set(schema, compiled);
  return compiled;
}

/** Creates a validator for each schema, so that the `$id` of one cannot collide with that of another, even of another agent. */
function compileUncached(schema: JsonObject, characters: number): CompiledSchema {
  if (characters > maxSchemaCharacters) {
    return {
      kind: "invalid",
      problem: `it has ${characters} characters, more than ${maxSchemaCharacters}`,
    };
  }
  const { $schema } = schema;
  if (compileCost(schema) > maxCompileCost) {
    return { kind: "invalid", problem: tooCostly, isCostly: isWellFormed($schema, schema) };
  }
  const compiled = compileBy(draftOf($schema), schema);
  if (compiled.kind === "compiled" || $schema !== undefined) return compiled;
  const byDraft7 = compileBy(Ajv, schema);
  return byDraft7.kind === "compiled" ? byDraft7 : compiled;
}

const tooCostly = "compiling it takes too much work; use fewer subschemas and patterns";

/** Whether a schema has the form that its draft, or without one the draft that compiles it, describes. Compiles no code for it. */
function isWellFormed($schema: JsonValue | undefined, schema: JsonObject): boolean {
  const drafts = $schema === undefined ? [Ajv2020, Ajv] : [draftOf($schema)];
  const { $schema: _schema, ...rest } = schema;
  return drafts.some((Draft) => {
    try {
      assertForm(Draft, rest);
      return true;
    } catch {
      // It is also thrown when the schema is nested more deeply than the stack permits.
      return false;
    }
  });
}

const forms = new Map<Draft, Ajv>();

/** Throws if a schema does not have the form that its draft describes. Compiles the description of the draft once. */
function assertForm(Draft: Draft, schema: JsonObject): void {
  const form = forms.get(Draft) ?? new Draft({ allErrors: true, strict: false, logger: false });
  forms.set(Draft, form);
  if (form.validateSchema(schema) !== true) {
    throw new Error(`schema is invalid: ${form.errorsText()}`);
  }
}

type Draft = new (options: Options) => Ajv;

function draftOf($schema: JsonValue | undefined): Draft {
  if (typeof $schema !== "string") return Ajv2020;
  if (/draft-0[467]/.test($schema)) return Ajv;
  return $schema.includes("2019-09") ? Ajv2019 : Ajv2020;
}

function compileBy(Draft: Draft, schema: JsonObject): CompiledSchema {
  const work = new WorkBudget(maxWork);
  const unsupported: string[] = [];
  const options: Options = {
    allErrors: true,
    strict: false,
    logger: false,
    // Each reference would be a copy of what it refers to: a small schema could become a huge program.
    inlineRefs: false,
    // Otherwise short lists become code for each of their values.
    loopRequired: 1,
    loopEnum: 1,
    // `assertForm` has validated it: each validator would compile the description of the draft again.
    validateSchema: false,
    code: { regExp: linearPatterns(work, unsupported) },
  };
  // An asynchronous validator would return a promise, which counts as valid.
  const { $schema: _schema, $async: _async, ...rest } = schema;
  try {
    assertForm(Draft, rest);
    const ajv = new Draft(options);
    countReferences(ajv, work);
    const validate = ajv.compile(rest);
    const errorsOf = (value: JsonObject) => {
      try {
        work.reset();
        return validate(value) ? [] : (validate.errors ?? []);
      } catch (error) {
        // Circular references end at one of the two limits: of work, or of the stack.
        if (error instanceof WorkBudgetExceeded || error instanceof RangeError) return undefined;
        throw error;
      }
    };
    return { kind: "compiled", errorsOf, unsupported };
  } catch (error) {
    return { kind: "invalid", problem: error instanceof Error ? error.message : String(error) };
  }
}
