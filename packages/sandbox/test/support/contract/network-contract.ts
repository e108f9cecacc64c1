import { describe, expect, test } from "vitest";
import { collect } from "../../../src/files/collect.ts";
import type { NetworkBench } from "./network-bench.ts";
import { ask } from "./network-bench.ts";
import type { SandboxBench } from "./sandbox-bench.ts";
import { limitsOf, signal } from "./sandbox-bench.ts";

/** Tests the network of sandboxes: none by default, and through their proxy what both agent and operator permit. */
export function networkContract(bench: () => SandboxBench, network: () => NetworkBench): void {
  const python: NetworkBench["python"] = (...args) => network().python(...args);

  describe("has a network that", () => {
    // Requirement: KIT-8
    test("does not exist without a request for it", async () => {
      const { box: without } = bench();
      const code = `${ask}
import os, socket
print(sorted(name for name in os.environ if "PROXY" in name.upper()), os.path.exists("/run/reeve"))
for address in (("127.0.0.1", 3128), ("127.0.0.1", ${network().port}), ("169.254.169.254", 80)):
    try: print(socket.create_connection(address, 2))
    except OSError as error: print(type(error).__name__)`;
      const command = { argv: ["python3", "-I", "-c", code], limits: limitsOf() };
      const lines = (await collect(without, command, signal)).text("stdout").trim().split("\n");
      expect(lines[0]).toBe("[] False");
      expect(lines.slice(1)).toEqual([
        "ConnectionRefusedError",
        "ConnectionRefusedError",
        expect.stringMatching(/OSError|Refused/),
      ]);
    });

    // Requirement: HOST-8
    test("reaches the requested hosts, by plain requests and by tunnels", async () => {
      const code = `
print(ask("http://good.test:PORT/hello?q=secret"))
print(ask("http://a.sub.test:PORT/echo", data=b"posted", headers={"x-own": "kept", "proxy-authorization": "x"}))
print(tunnel("good.test", PORT))`;
      const answer = await python(code, ["good.test:PORT", "*.sub.test:PORT"], "call-reach");
      expect(answer).toBe(
        `200 GET /hello?q=secret of good.test:${network().port}\n200 POST /echo of a.sub.test:${network().port}: posted, kept\nGET / of good.test:${network().port}`,
      );
      const lines = network().logged.filter(({ callId }) => callId === "call-reach");
      expect(lines).toMatchObject([
        { runId: "run-1", host: "good.test", outcome: "allowed", reason: "closed" },
        { host: "a.sub.test", outcome: "allowed", sentBytes: 6 },
        { host: "good.test", outcome: "allowed", msg: "sandbox connection" },
      ]);
      expect(JSON.stringify(lines)).not.toMatch(/secret|posted|hello/);
    });

    test("works for programs that read the proxy from their environment", async () => {
      const known = await bench().run(["curl", "--version"]);
      if (known.end.code !== 0) return;
      const argv = ["curl", "-sS", "http://good.test:PORT/by-curl"];
      const answer = await network().output({ argv }, ["good.test:PORT"]);
      expect(answer).toBe(`GET /by-curl of good.test:${network().port}`);
    });

    test.each([
      [
        "a host that is not requested",
        "other.test",
        80,
        /not among the hosts .* may be reached here: good/,
      ],
      ["another port of a requested host", "good.test", 81, /good\.test:81 is not among/],
      ["the metadata service of a cloud, by its address", "169.254.169.254", 80, /not among/],
      ["this host, by its address", "127.0.0.1", 0, /not among/],
      ["this host, as a decimal address", "2130706433", 80, /not among|only http/],
      ["the metadata service of a cloud, by a name", "metadata.test", 80, /is blocked here/],
      ["a private network, by a name", "private.test", 80, /10\.255\.255\.1, which is blocked/],
      ["a private network, mapped to IPv6", "mapped.test", 80, /is blocked here/],
      ["a requested metadata service", "169.254.169.253", 80, /is blocked here/],
    ])("does not reach %s, and reports why", async (_, host, port, why) => {
      const at = port === 0 ? network().port : port;
      const allow = [
        "good.test:PORT",
        "metadata.test:80",
        "private.test:80",
        "mapped.test:80",
        "169.254.169.253:80",
      ];
      const code = `print(ask("http://${host}:${at}/")); print(tunnel("${host}", ${at}))`;
      const [plain = "", , tunnelled = ""] = (await python(code, allow)).split("\n");
      expect(plain).toMatch(/^403 /);
      expect(plain).toMatch(why);
      expect(tunnelled).toMatch(/^broken: Tunnel connection failed: 403/);
      expect(network().logged.slice(-2)).toMatchObject([
        { outcome: "refused" },
        { outcome: "refused" },
      ]);
    });

    test("reports requested hosts that do not exist", async () => {
      const answer = await python(`print(ask("http://nowhere.test:PORT/"))`, ["nowhere.test:PORT"]);
      expect(answer).toMatch(/^502 cannot connect to nowhere\.test:\d+: it has no address/);
    });

    test("connects to the address that was checked, even if the name changes", async () => {
      const allow = ["rebinding.test:PORT"];
      const code = `print(ask("http://rebinding.test:PORT/"))`;
      expect(await python(code, allow)).toContain("200 GET / of rebinding.test");
      expect(network().lookedUp.filter((host) => host === "rebinding.test")).toHaveLength(1);
      expect(await python(code, allow)).toMatch(/^403 rebinding\.test is at 10\.0\.0\.1/);
    });

    test("checks the target of a redirect again", async () => {
      const answer = await python(`print(ask("http://good.test:PORT/away"))`, ["good.test:PORT"]);
      expect(answer).toMatch(/^403 169\.254\.169\.254:80 is not among/);
    });

    // Requirement: HOST-8
    test("cannot be reached past the proxy", async () => {
      const code = `
import socket
for address in (("127.0.0.1", PORT), ("169.254.169.254", 80), ("192.0.2.1", 443)):
    try: print(socket.create_connection(address, 2))
    except OSError as error: print(type(error).__name__)
try: socket.gethostbyname("good.test")
except OSError as error: print(type(error).__name__)
direct = socket.socket(socket.AF_UNIX); direct.connect("/run/reeve/proxy")
direct.sendall(b"CONNECT 169.254.169.254:80 HTTP/1.1\\r\\n\\r\\n"); print(direct.recv(12))
try: open("/run/reeve/x", "w")
except OSError as error: print(error.errno)`;
      const lines = (await python(code, ["good.test:PORT"])).split("\n");
      expect(lines.slice(0, 4).join()).toMatch(/^ConnectionRefusedError(,OSError){2},gaierror$/);
      expect(lines.slice(4)).toEqual(["b'HTTP/1.1 403'", "30"]);
    });

    // Requirement: HOST-8
    test("is refused beyond what the operator permits, with a list of that", async () => {
      await expect(python("", ["good.test:443"])).rejects.toThrow(
        /no network: the agent requests good\.test:443, .* REEVE_NETWORK_ALLOW/,
      );
    });

    test("is not shared with a sandbox that requests other hosts", async () => {
      const touch = "open('/tmp/mine', 'w').close(); import os; print(os.getpid() > 0)";
      expect(await python(touch, ["good.test:PORT"])).toBe("True");
      const code = `print(ask("http://good.test:PORT/"))`;
      expect(await python(code, ["a.sub.test:PORT"])).toMatch(/^403 .*reached here: a\.sub\.test/);
    });
  });
}
