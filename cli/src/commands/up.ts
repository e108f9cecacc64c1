import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TriedSource } from "@reeve/toolhost/tools/external-tools";
import { keepCompiledModules } from "@reeve/platform/process/keep-compiled-modules";
import { Command } from "commander";
import { untilAborted } from "../abort.ts";
import type { Context } from "../context.ts";
import { ensureConsole, hasConsole } from "../embedded/ensure-console.ts";
import type { Embedded } from "../embedded/start-embedded.ts";
import { assertSandbox, startOnThisMachine } from "../embedded/start-on-this-machine.ts";
import { exitCodes } from "../exit-code.ts";
import { quoted, reeveCommand } from "../reeve-command.ts";
import { defaultDataDir, tokenFile } from "../server-address.ts";
import { consoleUrl } from "../render/console-url.ts";
import { plural } from "../render/numbers.ts";
import { oneLine } from "../render/plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { parsePort } from "./parse-option.ts";

const defaultListen = "127.0.0.1:4680";
/** The example of the hints. It exists in a clone; elsewhere `init` writes it. */
const example = "examples/csv-report";

/** Runs NATS and all services on this machine. */
export function upCommand(context: Context): Command {
  const command = new Command("up")
    .description("Start a complete Reeve on this machine. Ctrl-C stops it.")
    .option("--listen <host:port>", `listen address (REEVE_LISTEN; default ${defaultListen})`)
    .option("--port-nats <port>", "port of the NATS server (default: any free port)", parsePort)
    .option("--without-sandbox", "start even if no sandbox works; disables tools that need one");
  interface Options {
    readonly listen?: string;
    readonly portNats?: number;
    readonly withoutSandbox?: true;
    readonly dataDir?: string;
  }
  return command.action(async () => {
    const { environment, signal, terminal } = context;
    const { listen, portNats, withoutSandbox, dataDir } = command.optsWithGlobals<Options>();
    const level = environment["REEVE_LOG_LEVEL"] || "warn";
    // Loaded only now, so that other commands start faster.
    const { createLogger } = await import("@reeve/platform/telemetry/logger");
    await ensureConsole(environment, (text) => terminal.note(text), signal);
    await using embedded = await startOnThisMachine(
      {
        listen: listen ?? (environment["REEVE_LISTEN"] || defaultListen),
        dataDir: dataDir ?? (environment["REEVE_DATA_DIR"] || defaultDataDir),
        ...(portNats !== undefined && { natsPort: portNats }),
        settings: environment,
        log: createLogger("reeve", level),
      },
      signal,
    );
    if (withoutSandbox === undefined) assertSandbox(embedded);
    const reeve = reeveCommand({ dataDir: embedded.dataDir }, environment);
    const scripts = environment["REEVE_SCRIPTS"] || undefined;
    const others = otherTokens.filter((name) => environment[name]);
    const given = { terminal, hasConsole: hasConsole(environment), scripts, others };
    terminal.out(greeting(embedded, reeve, given));
    keepCompiledModules();
    for (const source of embedded.sources) void source.then((tried) => report(tried, context));
    await untilAborted(signal);
    terminal.note(farewell(embedded.activeRuns()));
    context.exitCode = exitCodes.ok;
  });
}

interface GreetingContext {
  readonly terminal: Terminal;
  readonly hasConsole: boolean;
  /** The folder of scripts that the user has chosen. */
  readonly scripts: string | undefined;
  /** The settings that name further tokens, which may belong to other tenants. */
  readonly others: readonly string[];
}

/** The settings with tokens beside that of the data folder. */
const otherTokens = ["REEVE_TOKENS", "REEVE_TOKENS_FILE", "REEVE_OIDC_CONFIG"];

function greeting(
  { url, token, dataDir, capabilities }: Embedded,
  reeve: string,
  { terminal: { style, isInteractive }, hasConsole, scripts, others }: GreetingContext,
): string {
  return [
    `${style("green", "Reeve is up")} at ${style("bold", url)}`,
    // The output of a service goes to a log, which must not have the token.
    ...(hasConsole ? [`  console  ${isInteractive ? consoleUrl(url, token) : `${url}/`}`] : []),
    `  token    ${tokenFile(dataDir)}${others.length > 0 ? ", of the tenant local" : ""}`,
    ...(others.length > 0
      ? [`           others, each with the runs of its own tenant: those of ${others.join(", ")}`]
      : []),
    `  model    ${modelOf(capabilities)}`,
    `  sandbox  ${capabilities.isolation ?? "none: tools that execute code are off"}`,
    "",
    ...commandsToTry(reeve, scripts),
    "Press Ctrl-C to stop.",
    "",
  ].join("\n");
}

/** Names the default model, or says how agents get another one. */
function modelOf({ defaultModel, scripts }: Embedded["capabilities"]): string {
  if (defaultModel !== undefined) return defaultModel;
  const [first] = scripts;
  return first === undefined
    ? "none: set OPENAI_API_KEY or ANTHROPIC_API_KEY"
    : `no default; agents name a script, such as scripted:${first}`;
}

/** Scripts answer only the agent for which they were written: that of the example, unless the user has chosen other ones. */
function commandsToTry(reeve: string, scripts: string | undefined): readonly string[] {
  const title = "In another terminal:";
  if (scripts !== undefined) {
    const agent = join(dirname(scripts), "agent.yaml");
    return existsSync(agent) ? [title, `  ${reeve} agents apply -f ${quoted(agent)}`, ""] : [];
  }
  return [
    title,
    ...(existsSync(`${example}/agent.yaml`) ? [] : [`  ${reeve} init ${example}`]),
    `  ${reeve} agents apply -f ${example}/agent.yaml`,
    `  ${reeve} run csv-report "Summarize data.csv" --file ${example}/sales.csv=data.csv --watch`,
    "",
  ];
}

/** Says what became of a source of tools, unless the server stops. */
function report({ kind, name, tools, problem }: TriedSource, { terminal, signal }: Context): void {
  if (signal.aborted) return;
  const { style } = terminal;
  const source = `${kind} ${name}`;
  if (problem === undefined) {
    terminal.out(`${style("green", source)} is connected: ${plural(tools, "tool")}\n`);
  } else {
    const text = oneLine(problem, 500);
    terminal.note(`${style("yellow", source)} is not connected: ${text}; it is tried again\n`);
  }
}

function farewell(activeRuns: number): string {
  if (activeRuns === 0) return "\nstopping …\n";
  return (
    `\nstopping: waiting for the model calls of ${plural(activeRuns, "run")}, at most 30 s; press Ctrl-C again to stop now\n` +
    "every run continues at the next start\n"
  );
}
