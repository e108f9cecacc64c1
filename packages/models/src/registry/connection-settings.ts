import { z } from "zod";

/** The settings of every provider that is called over the network. */
export const connectionSettings = {
  /** How long a provider may be silent before or within an answer, in milliseconds. Default: 5 minutes. */
  REEVE_MODEL_IDLE_MS: z.coerce.number().int().min(1).max(3_600_000).optional(),
};
