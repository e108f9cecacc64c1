import type { Context } from "../context.ts";

/** What a decision needs of the context of a command. */
export type DecisionContext = Pick<Context, "terminal" | "environment" | "signal" | "reeve">;
