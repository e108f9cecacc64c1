import { Command } from "commander";
import type { Context } from "../../context.ts";

/** Manages the keys with which the data of tenants is encrypted. */
export function tenantsCommand(context: Context): Command {
  const command = new Command("tenants").description(
    "Manage the keys with which the data of tenants is encrypted (REEVE_ENCRYPTION_KEYS).",
  );
  command
    .command("delete-key")
    .description(
      "Delete the key of a tenant. Everything that is stored for it is then unreadable, for good. Connects to NATS with REEVE_NATS_*, as `reeve provision` does.",
    )
    .argument("<tenant>", "the tenant")
    .option("--yes", "confirm that nobody needs the data any more")
    .action(async (tenant: string, { yes }: { readonly yes?: true }) => {
      const { deleteKey } = await loaded();
      await deleteKey(context, tenant, yes === true);
    });
  command
    .command("rotate-key")
    .description(
      "Give a tenant a new version of its key, and delete the earlier ones. Its data stays readable. Takes half a minute. Connects to NATS with REEVE_NATS_*, as `reeve provision` does.",
    )
    .argument("<tenant>", "the tenant")
    .action(async (tenant: string) => {
      const { rotateKey } = await loaded();
      await rotateKey(context, tenant);
    });
  return command;
}

/** Loads what changes keys only when it is needed, so that other commands start faster. */
function loaded() {
  return import("./change-tenant-key.ts");
}
