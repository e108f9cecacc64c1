import { Command } from "commander";
import type { Context } from "../context.ts";

/** Creates what the services store in NATS, before the first of them starts. */
export function provisionCommand(context: Context): Command {
  const command = new Command("provision").description(
    "Create the streams, buckets, and consumers that the services need in NATS. Safe to repeat.\n\n" +
      "Reads the environment variables REEVE_NATS_*, REEVE_POOLS, REEVE_STREAM_REPLICAS, REEVE_RUN_SHARDS, and REEVE_AUDIT_MAX_*.",
  );
  return command.action(async () => {
    // Loaded only now, so that other commands start faster.
    const { provisionStore } = await import("./operate/provision-store.ts");
    await provisionStore(context);
  });
}
