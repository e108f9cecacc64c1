import type { JsonObject } from "@bufbuild/protobuf";
import type { NamePattern } from "../tools/name-pattern.ts";
import type { TextCheck } from "./text-check.ts";

/** What a guard looks at. */
export type GuardTarget = "input" | "output" | "arguments" | "result";

/** What happens when a guard trips. */
export type GuardAction = "stop" | "refuse" | "redact" | "ask";

/** A check of a text by a model. */
export interface ModelCheck {
  readonly kind: "model";
  /** A reference of a model, as in the field `model` of an agent. Undefined: the model of the agent of the run. */
  readonly model: string | undefined;
  /** What the model decides by. */
  readonly policy: string;
  /** Whether a text passes that the model did not check. */
  readonly allowsFailure: boolean;
}

/** A check of arguments or of an answer by a JSON Schema. */
export interface SchemaCheck {
  readonly kind: "schema";
  readonly schema: JsonObject;
}

/** A guard of an agent or of the operator. */
export interface Guard {
  readonly name: string;
  /** Its place in its section, such as `input[0]`. */
  readonly field: string;
  readonly action: GuardAction;
  readonly check: TextCheck | ModelCheck | SchemaCheck;
  /** Why it exists: models and people read it. Empty: nothing. */
  readonly reason: string;
  readonly targets: readonly GuardTarget[];
  /** The tools whose calls it looks at. Undefined: all. */
  readonly tools: readonly NamePattern[] | undefined;
}

/** The guards of one section. */
export interface GuardList {
  readonly guards: readonly Guard[];
  /** Whether answers are shown only after their guards passed them. */
  readonly holds: boolean;
}
