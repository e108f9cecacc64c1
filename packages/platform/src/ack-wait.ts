import { z } from "zod";

/**
 * The setting `REEVE_ACK_WAIT_MS`: how long whoever works at something may be silent before it goes to another, in
 * milliseconds. All services of a deployment have the same: each makes the queues that are missing. A machine that leaves
 * a process without time for longer needs more; a worker that dies is missed for as long.
 */
export const ackWait = z.coerce.number().int().min(300).max(600_000).default(1_000);
