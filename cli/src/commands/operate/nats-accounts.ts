import { Command } from "commander";
import type { Context } from "../../context.ts";
import { parseLimit } from "../parse-option.ts";
import type { AccountOptions } from "./issue-accounts.ts";

/** Issues the users of NATS as JWTs, with the permissions that the contracts declare. */
export function natsAccountsCommand(context: Context): Command {
  return new Command("nats-accounts")
    .description(
      "Issue the users of NATS as JWTs with keys (decentralized authentication), with the permissions of this version. " +
        "Repeat it after an update: keys and users stay, and the configuration of the servers gets the new permissions.",
    )
    .argument("<folder>", "where the keys, the credentials, and the configuration are kept")
    .option(
      "--max-store-bytes <bytes>",
      "what all servers may store together; every replica counts (default: no limit)",
      parseLimit,
    )
    .option("--run-shards <count>", "REEVE_RUN_SHARDS of the store (default: 1)", parseLimit)
    .option("--nats-url <url>", "the URL of NATS for the nats command", "nats://127.0.0.1:4222")
    .action(async (folder: string, options: AccountOptions) => {
      // Loaded only now, so that other commands start faster.
      const { issueAccounts } = await import("./issue-accounts.ts");
      await issueAccounts(context, folder, options);
    });
}
