import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { parseNetworkEntry } from "@reeve/agent/spec/network-entry";
import { Lookups } from "../../../src/network/lookups.ts";
import { NetworkedDriver } from "../../../src/network/networked-driver.ts";
import { WarmSandboxes } from "../../../src/lifecycle/warm-sandboxes.ts";
import { collect } from "../../../src/files/collect.ts";
import type { SandboxCommand } from "../../../src/port.ts";
import type { LogLine } from "../recording-log.ts";
import { recordingLog } from "../recording-log.ts";
import type { SandboxBench } from "./sandbox-bench.ts";
import { limitsOf, signal } from "./sandbox-bench.ts";

export const maxBytes = 4_000_000;
/** Addresses of the names in the tests. */
const names: Readonly<Record<string, readonly string[]>> = {
  "good.test": ["127.0.0.1"],
  "a.sub.test": ["127.0.0.1"],
  "metadata.test": ["169.254.169.254"],
  "private.test": ["10.255.255.1"],
  "mapped.test": ["::ffff:10.0.0.1"],
  "nowhere.test": [],
};

/** Python functions that send requests through the proxy, as programs do that only know their environment. */
export const ask = `
import os, urllib.request, urllib.error
# Other tests cover requests to this host without a proxy.
for name in ("no_proxy", "NO_PROXY"): os.environ.pop(name, None)
def ask(url, **more):
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, **more), timeout=20)
        return f"{answer.status} {answer.read().decode()}"
    except urllib.error.HTTPError as error: return f"{error.code} {error.read().decode()}"
    except (OSError, urllib.error.URLError) as error: return f"broken: {error}"
def tunnel(host, port):
    import http.client
    connection = http.client.HTTPConnection("127.0.0.1", 3128, timeout=20)
    connection.set_tunnel(host, port)
    try:
        connection.request("GET", "/")
        return connection.getresponse().read().decode()
    except OSError as error: return f"broken: {error}"
`;

/** Sandboxes with network access, in which names resolve to a server of this machine. */
export interface NetworkBench extends AsyncDisposable {
  readonly port: number;
  /** Log lines, one for each connection. */
  readonly logged: readonly LogLine[];
  /** Names in the order of their lookups. */
  readonly lookedUp: readonly string[];
  /** Runs a command and returns its output. PORT in its arguments is replaced by the port of the server. */
  output(
    command: Pick<SandboxCommand, "argv">,
    allow: readonly string[],
    callId?: string,
  ): Promise<string>;
  /** Runs Python code in the same way, with the functions of `ask`. */
  python(code: string, allow: readonly string[], callId?: string): Promise<string>;
}

export async function networkBench(bench: SandboxBench): Promise<NetworkBench> {
  await using starting = new AsyncDisposableStack();
  const server = createServer(answers).listen(0, "127.0.0.1");
  starting.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const { driver, identity, folder, workspace } = bench;
  const { log, logged } = recordingLog();
  const lookedUp: string[] = [];
  const networked = new NetworkedDriver(driver, {
    policy: { allow: [entry(`*:${port}`), entry("*:80")], ranges: ["127.0.0.1"], maxBytes },
    identity,
    folder: () => join(folder, "network"),
    lookups: new Lookups((host) => {
      lookedUp.push(host);
      // The second lookup of this name returns another address, as in DNS rebinding.
      const isAgain = lookedUp.filter((each) => each === host).length > 1;
      if (host === "rebinding.test") return Promise.resolve([isAgain ? "10.0.0.1" : "127.0.0.1"]);
      return Promise.resolve(names[host] ?? []);
    }),
    log,
  });
  const warm = starting.use(new WarmSandboxes(networked, { idleMs: 300_000, maxIdle: 4 }));
  const box = warm.sandboxFor(workspace);
  const filled = (text: string) => text.replaceAll("PORT", String(port));
  const output: NetworkBench["output"] = async ({ argv }, allow, callId = "call-1") => {
    const limits = limitsOf({ timeoutMs: 40_000 });
    const network = { allow: allow.map(filled), runId: "run-1", callId };
    const { text } = await collect(box, { argv: argv.map(filled), limits, network }, signal);
    return (text("stdout") + text("stderr")).trim();
  };
  const resources = starting.move();
  return {
    port,
    logged,
    lookedUp,
    output,
    python: (code, ...more) => output({ argv: ["python3", "-I", "-c", ask + code] }, ...more),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Invalid answers by path. */
const brokenAnswers: Readonly<Record<string, string>> = {
  "/odd-status": "HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n",
  "/no-http": "who are you?\r\n\r\n",
  "/odd-header": "HTTP/1.1 200 OK\r\nx-odd: a\u0001b\r\ncontent-length: 0\r\n\r\n",
  "/cut": "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nshort",
  "/upgrade": "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
  "/nothing": "",
};

const answers: RequestListener = (request, response) => {
  const { method, url, headers } = request;
  if (url === "/away") {
    return void response.writeHead(302, { location: "http://169.254.169.254/latest" }).end();
  }
  if (url === "/huge") {
    response.writeHead(200, { "content-length": 50_000_000 });
    return void response.end(Buffer.alloc(50_000_000));
  }
  const broken = brokenAnswers[url ?? ""];
  if (broken !== undefined) return void request.socket.end(broken);
  if (url === "/large") return void response.end(Buffer.alloc(2_000_000));
  if (url === "/endless") {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on("drain", more);
    return more();
  }
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    const own = headers["proxy-authorization"] ?? headers["x-own"] ?? "";
    const echo = body === "" ? "" : `: ${body}, ${String(own)}`;
    response.end(`${method} ${url} of ${headers.host}${echo}`);
  });
};

function entry(text: string) {
  const parsed = parseNetworkEntry(text, "operator");
  if (parsed === undefined) throw new Error(`${text} is no entry`);
  return parsed;
}
