import { a2aExecutor } from "./a2a.ts";
import { localExecutor } from "./local.ts";
import { natsExecutor } from "./nats.ts";
import { temporalExecutor } from "./temporal.ts";

/** The executors that a request can name. */
export const executors = [natsExecutor, localExecutor, temporalExecutor, a2aExecutor] as const;

export type ExecutorName = (typeof executors)[number]["name"];
