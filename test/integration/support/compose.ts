import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { freePort } from "../../support/free-ports.ts";
import { upToDateImages } from "./engine.ts";

const root = join(import.meta.dirname, "../../..");
const candidates = [["docker", "compose"], ["docker-compose"]] as const;
const program = candidates.find(isCurrent);

/** Why compose.yaml cannot be tested here, or undefined if it can. */
export const whyNoCompose =
  program === undefined
    ? "neither `docker compose` nor docker-compose 2 or later is installed"
    : undefined;

/** The deployment of compose.yaml as a separate project. Disposal removes all of it. */
export interface ComposeProject extends AsyncDisposable {
  /** The address of the gateway, `http://127.0.0.1:port`. */
  readonly url: string;
  /** The folder of the token. */
  readonly dataDir: string;
  readonly token: string;
  /** Runs compose for the project and returns its stdout. */
  compose(...args: string[]): Promise<string>;
}

/** Starts the deployment and waits until all of it is healthy. */
export async function composeUp(): Promise<ComposeProject> {
  const images = await upToDateImages();
  const folder = mkdtempSync(join(tmpdir(), "reeve-compose-"));
  const dataDir = join(folder, ".reeve");
  const environment = {
    ...process.env,
    REEVE_IMAGE: images.services,
    REEVE_TOOLHOST_IMAGE: images.toolhost,
    REEVE_NATS_IMAGE: images.nats,
    REEVE_DATA_DIR: dataDir,
    // Docker would choose one of the ports of outgoing connections, which such a connection may have.
    REEVE_PORT: String(await freePort()),
  };
  const compose = async (...args: string[]) => {
    const [command = "", ...rest] = program ?? [];
    const project = ["-p", `reeve-test-${process.pid}`, "-f", join(root, "compose.yaml")];
    const asked = promisify(execFile)(command, [...rest, ...project, ...args], {
      env: environment,
    });
    return (await asked).stdout;
  };
  await using started = new AsyncDisposableStack();
  started.defer(() => rmSync(folder, { recursive: true, force: true }));
  started.defer(async () => void (await compose("down", "--volumes", "--timeout", "0")));
  await compose("up", "--detach", "--wait");
  const published = (await compose("port", "gateway", "4680")).trim();
  const resources = started.move();
  return {
    url: `http://${published}`,
    dataDir,
    token: readFileSync(join(dataDir, "token"), "utf8").trim(),
    compose,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Version 1 of compose is a different program without `--wait` and other features that compose.yaml needs. */
function isCurrent([command, ...rest]: readonly [string, ...string[]]): boolean {
  const { stdout } = spawnSync(command, [...rest, "version", "--short"], { encoding: "utf8" });
  return Number(/^v?(\d+)\./.exec(stdout ?? "")?.[1] ?? 0) >= 2;
}
