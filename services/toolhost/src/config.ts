import { z } from "zod";

/** The settings of a toolhost, from environment variables. */
export const toolhostConfig = z.object({
  REEVE_NATS_URL: z.string().default("nats://127.0.0.1:4222"),
  REEVE_LOG_LEVEL: z.string().default("info"),
  /** Folder of the workspaces and of what the host needs itself. */
  REEVE_DATA_DIR: z.string().default(".reeve"),
  /** The pool whose calls this host takes. */
  REEVE_POOL: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/)
    .default("default"),
  /** How many calls run at a time. */
  REEVE_TOOLHOST_CONCURRENCY: z.coerce.number().int().min(1).max(1_000).default(4),
  /** JSON file that names MCP servers: `{"servers": {"<name>": {"command", "args", "env"}}}`. */
  REEVE_MCP_CONFIG: z.string().optional(),
  /** The user and group as which sandboxes run when root runs the toolhost. Not root. */
  REEVE_SANDBOX_UID: z.coerce.number().int().min(1).default(64017),
  /** The largest artifact, in bytes. */
  REEVE_MAX_ARTIFACT_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .max(2 ** 32 - 1)
    .default(104_857_600),
});

export type ToolhostConfig = z.infer<typeof toolhostConfig>;
