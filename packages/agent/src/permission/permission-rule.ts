import { PermissionBehavior } from "@reeve/contracts/tool";

/** The names of the behaviors, as files write them. */
export const behaviors = {
  ask: PermissionBehavior.ASK,
  allow: PermissionBehavior.ALLOW,
  deny: PermissionBehavior.DENY,
} as const;

/** A test of a text. `cost` bounds the steps of a match for one character of the text. */
export interface TextMatcher {
  readonly cost: number;
  matches(text: string): boolean;
}

/** A step from a value into it: a member, an element, or all of them. */
export type PathStep =
  | { readonly kind: "member"; readonly name: string }
  | { readonly kind: "element"; readonly index: number }
  | { readonly kind: "every" };

/** A condition on the values at a path of the arguments. */
export interface ArgumentCondition {
  /** Undefined: the primary argument of the tool. */
  readonly path: readonly PathStep[] | undefined;
  readonly isNegated: boolean;
  /** Whether one text fits only. */
  readonly isExact: boolean;
  readonly matcher: TextMatcher;
}

/** The calls that a permission rule matches. */
export interface CallPattern {
  readonly tool: TextMatcher;
  /** All of them must hold. Empty: every call of the tool matches. */
  readonly conditions: readonly ArgumentCondition[];
}
