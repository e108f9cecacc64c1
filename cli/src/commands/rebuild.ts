import { Argument, Command } from "commander";
import type { Context } from "../context.ts";

/** The projections, and the service that rebuilds each. */
const keepers = { runs: "gateway", threads: "gateway", approvals: "approvals" } as const;
type ProjectionName = keyof typeof keepers;
const names = Object.keys(keepers) as ProjectionName[];

/** Requests rebuilds of projections from the logs, and waits for them. */
export function rebuildCommand(context: Context): Command {
  const command = new Command("rebuild")
    .description(
      "Compare lists of runs, threads, and approvals with the logs, and repair them while the services run.\n\n" +
        "Connects to NATS. Reads the environment variables REEVE_NATS_URL, REEVE_NATS_USER, and REEVE_NATS_PASSWORD.",
    )
    .addArgument(new Argument("[projections...]", "what to rebuild (default: all)").choices(names))
    .option("--json", "print the result of each rebuild as a line of JSON");
  return command.action(async (given: ProjectionName[]) => {
    // Loaded only now, so that other commands start faster.
    const { rebuildProjections } = await import("./operate/rebuild-projections.ts");
    const isJson = command.opts<{ json?: boolean }>().json === true;
    const wanted = given.length === 0 ? names : given;
    const projections = wanted.map((name) => ({ name, keeper: keepers[name] }));
    await rebuildProjections(context, projections, isJson);
  });
}
