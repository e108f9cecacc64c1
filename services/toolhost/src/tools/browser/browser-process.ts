import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Identity } from "@reeve/sandbox/host/identity";
import { ownedFolder } from "@reeve/sandbox/host/owned-folder";
import { makeWorkspaceDir } from "@reeve/sandbox/host/workspace-folder";
import type { ExecEvent, NetworkUse, SandboxDriver, SandboxLimits } from "@reeve/sandbox/port";
import { chromiumCommand } from "./chromium-command.ts";
import type { DevtoolsSocket } from "./devtools-socket.ts";
import { devtoolsSocket } from "./devtools-socket.ts";
import type { GuardedPage, PageTimes } from "./guarded-page.ts";
import { connectPage } from "./guarded-page.ts";

/** How long a browser lives at most, whatever it does. */
const maxLifeMs = 30 * 60_000;
const memoryBytes = 2 ** 30;
/** Threads count. */
const processes = 512;
/** A page may compute also while no call uses it. */
const cpus = 1;
const limits: SandboxLimits = {
  timeoutMs: maxLifeMs,
  outputBytes: 2 ** 31,
  // The control group of the sandbox limits memory. Chromium reserves far more addresses than it uses.
  memoryBytes: 2 ** 46,
  processes,
  fileBytes: 2 ** 28,
  workspaceBytes: 2 ** 29,
  workspaceFiles: 20_000,
};

export interface BrowserOptions {
  /** Starts sandboxes whose network is a proxy, and whose memory is limited together. */
  readonly driver: Pick<SandboxDriver, "open">;
  readonly identity: Identity;
  /** The parent folder of profiles. */
  readonly folder: string;
  /** Path of Chromium, which sandboxes see. */
  readonly program: string;
  /** Default: those of `PageOptions`. */
  readonly times?: PageTimes | undefined;
  readonly log: Pick<Logger, "info">;
}

/** A browser in a sandbox of its own. Disposing ends it, and deletes its profile. */
export interface BrowserProcess extends AsyncDisposable {
  readonly page: GuardedPage;
  /** Resolves with the reason when the browser has ended. */
  readonly ended: Promise<string>;
  /** Gives the browser the connections of another call. */
  renewNetwork(network: NetworkUse): void;
}

/**
 * Starts a browser whose only network is that of `network`, through the proxy of its sandbox. Throws a Failure if the operator
 * does not permit that network, or if there is no sandbox.
 */
export async function startBrowser(
  { driver, identity, folder, program, times, log }: BrowserOptions,
  network: NetworkUse,
  signal: AbortSignal,
): Promise<BrowserProcess> {
  await using starting = new AsyncDisposableStack();
  const own = starting.use(await ownedFolder(folder, identity));
  const workspaceDir = join(own.path, "files");
  makeWorkspaceDir(workspaceDir, identity);
  const spec = {
    workspaceDir,
    readOnly: false,
    memoryBytes,
    processes,
    cpus,
    network: network.allow,
  };
  const session = starting.use(await driver.open(spec, signal));
  const devtoolsDir = join(own.path, "devtools");
  await mkdir(devtoolsDir, { mode: 0o700 });
  const socket = starting.use(await devtoolsSocket(devtoolsDir));
  const ending = new AbortController();
  const command = {
    argv: chromiumCommand(program),
    stdin: socket.commands,
    network,
    limits,
  };
  const ended = passOn(session.exec(command, ending.signal), socket, ending.signal);
  starting.defer(() =>
    ending.abort(new DOMException("the browser is not needed anymore", "AbortError")),
  );
  void ended.then((reason) => log.info({ runId: network.runId, reason }, "browser ended"));
  // What the library writes is swept with the folder if this process is killed.
  const artifactsDir = join(own.path, "artifacts");
  await mkdir(artifactsDir, { mode: 0o700 });
  const pageOptions = { ended, times, artifactsDir };
  const page = starting.use(await connectPage(socket.url, pageOptions, signal));
  const resources = starting.move();
  return {
    page,
    ended,
    renewNetwork: (use) => session.renewNetwork?.(use),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Passes on what the browser writes, until it ends. Returns why it has ended. */
async function passOn(
  events: AsyncIterable<ExecEvent>,
  socket: DevtoolsSocket,
  ending: AbortSignal,
): Promise<string> {
  try {
    for await (const event of events) {
      if (event.kind === "end") return reasons.get(event.reason) ?? event.reason;
      if (event.kind === "out" && event.stream === "stdout") await socket.receive(event.bytes);
    }
    return "its sandbox has ended";
  } catch (error) {
    if (ending.aborted) return closed;
    return error instanceof Error ? error.message : String(error);
  }
}

const closed = "it was closed";
const reasons: ReadonlyMap<string, string> = new Map([
  ["cancelled", closed],
  ["exit", "it has ended itself"],
  ["signal", "it was killed"],
  ["oom", "it has used up its memory"],
  ["timeout", "it has reached its maximum age"],
  ["disk_limit", "it has used up its disk space"],
  ["output_limit", "it has sent too much"],
  ["sandbox_lost", "its sandbox was lost"],
]);
