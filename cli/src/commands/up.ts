import { relative } from "node:path";
import process from "node:process";
import { Command } from "commander";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Cli } from "../cli.ts";
import type { Embedded } from "../embedded.ts";
import { exitCodes } from "../exit-code.ts";
import { parsePort } from "../parse-option.ts";
import { assertSandbox, localMachine } from "../local-machine.ts";
import { defaultDataDir, tokenFile } from "../server-address.ts";
import { untilAborted } from "../aborted.ts";
import type { Terminal } from "../terminal.ts";

const defaultListen = "127.0.0.1:4680";

/** Starts a whole Reeve on this machine. */
export function upCommand(cli: Cli): Command {
  const command = new Command("up")
    .description("start a whole Reeve on this machine, until Ctrl-C")
    .option("--listen <host:port>", `where it listens (REEVE_LISTEN; default ${defaultListen})`)
    .option("--port-nats <port>", "port of its NATS server; default: any free one", parsePort)
    .option(
      "--without-sandbox",
      "start even if code cannot be isolated; tools that need it are off",
    );
  interface Options {
    readonly listen?: string;
    readonly portNats?: number;
    readonly withoutSandbox?: true;
    readonly dataDir?: string;
  }
  return command.action(async () => {
    const { environment, signal, terminal } = cli;
    const { listen, portNats, withoutSandbox, dataDir } = command.optsWithGlobals<Options>();
    const level = environment["REEVE_LOG_LEVEL"] || "warn";
    await using reeve = await localMachine(
      {
        listen: listen ?? (environment["REEVE_LISTEN"] || defaultListen),
        dataDir: dataDir ?? (environment["REEVE_DATA_DIR"] || defaultDataDir),
        ...(portNats !== undefined && { natsPort: portNats }),
        settings: environment,
        log: createLogger("reeve", level),
      },
      signal,
    );
    if (withoutSandbox === undefined) assertSandbox(reeve);
    terminal.out(greeting(reeve, terminal));
    await untilAborted(signal);
    terminal.note("\nending …\n");
    cli.exitCode = exitCodes.ok;
  });
}

function greeting({ url, dataDir, offer }: Embedded, { colours }: Terminal): string {
  const isUsual = dataDir === `${process.cwd()}/${defaultDataDir}`;
  const option = isUsual ? "" : ` --data-dir ${relative(process.cwd(), dataDir) || "."}`;
  const reeve = `npx reeve${option}${url.endsWith(":4680") ? "" : ` --url ${url}`}`;
  return [
    `${colours.green("Reeve is up")} at ${colours.bold(url)}`,
    `  token    ${tokenFile(dataDir)}`,
    `  model    ${offer.defaultModel ?? "none: set OPENAI_API_KEY or ANTHROPIC_API_KEY"}`,
    `  sandbox  ${offer.isolation ?? "none: tools that run code are off"}`,
    "",
    "In another terminal:",
    `  ${reeve} agents apply -f examples/csv-report/agent.yaml`,
    `  ${reeve} run csv-report "Summarize data.csv" --file examples/csv-report/sales.csv=data.csv --watch`,
    "",
    "Ctrl-C ends everything.",
    "",
  ].join("\n");
}
