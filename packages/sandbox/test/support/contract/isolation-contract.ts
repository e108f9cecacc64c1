import { once } from "node:events";
import { symlink, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { collect } from "../../../src/files/collect.ts";
import { writeFile as writeInside } from "../../../src/files/workspace-files.ts";
import type { SandboxBench } from "./sandbox-bench.ts";
import { limitsOf, secret, signal } from "./sandbox-bench.ts";

const libc = `
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
SYS = {"x86_64": {"clone": 56, "bpf": 321, "keyctl": 250}, "aarch64": {"clone": 220, "bpf": 280, "keyctl": 219}}[platform.machine()]`;

/** Tests what code in a sandbox cannot see, reach, or become. */
export function isolationContract(bench: () => SandboxBench, hidden: readonly string[]): void {
  // Requirement: KIT-8
  describe("keeps code from", () => {
    test.each(hidden)("seeing %s of the host", async (path) => {
      const code = `import os; print(os.path.exists(${JSON.stringify(path)}))`;
      expect(await bench().python(code)).toBe("False");
    });

    // Requirement: RES-11
    test("reading the workspace of another run, through links or /proc", async () => {
      const { workspace, folder, python } = bench();
      await symlink("../run_b/secret.txt", join(workspace, "up"));
      await symlink(join(folder, "run_b/secret.txt"), join(workspace, "absolute"));
      for (const path of ["up", "absolute", "/proc/1/root" + folder + "/run_b/secret.txt"]) {
        expect(await python(`print(open(${JSON.stringify(path)}).read())`)).toMatch(
          /FileNotFoundError|PermissionError/,
        );
      }
    });

    test("reading the environment of the toolhost, in any process", async () => {
      const code = `
import glob, os
print(sorted(os.environ))
for path in glob.glob("/proc/[0-9]*/environ"):
    try: print(open(path).read())
    except OSError: pass`;
      process.env["REEVE_TEST_SECRET"] = secret;
      const { text } = await bench().run(["python3", "-I", "-c", code]);
      delete process.env["REEVE_TEST_SECRET"];
      expect(text("stdout")).toContain("['HOME', 'LANG', 'PATH', 'PWD', 'TMPDIR']");
      expect(text("stdout")).not.toContain(secret);
    });

    test("seeing processes other than its own", async () => {
      const code =
        "import os; print([p for p in os.listdir('/proc') if p.isdigit()] == ['1', str(os.getpid())])";
      expect(await bench().python(code)).toBe("True");
    });

    test.each(["/usr/x", "/etc/x", "/x", "/dev/x", "/proc/sys/kernel/hostname", "/bin/x"])(
      "writing %s",
      async (path) => {
        const code = `open(${JSON.stringify(path)}, "w")`;
        expect(await bench().python(code)).toMatch(/Error: /);
      },
    );

    test("reaching the network, including this machine", async () => {
      const server = createServer().listen(0, "0.0.0.0");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      for (const host of ["127.0.0.1", "169.254.169.254", "192.0.2.1"]) {
        const code = `import socket; socket.create_connection((${JSON.stringify(host)}, ${port}), 2)`;
        expect(await bench().python(code)).toMatch(/refused|unreachable/);
      }
      const resolve = "import socket; socket.gethostbyname('example.com')";
      expect(await bench().python(resolve)).toMatch(/gaierror/);
      server.close();
    });

    test.each([
      ["unshare", "libc.unshare(0x10000000)"],
      ["a user namespace by clone", "libc.syscall(SYS['clone'], 0x10000011, 0, 0, 0, 0)"],
      ["mount", "libc.mount(b'none', b'/tmp', b'tmpfs', 0, 0)"],
      ["ptrace", "libc.ptrace(0, 0, 0, 0)"],
      ["bpf", "libc.syscall(SYS['bpf'], 0, 0, 0)"],
      ["keyctl", "libc.syscall(SYS['keyctl'], 0, 0, 0)"],
      ["chroot", "libc.chroot(b'/tmp')"],
      ["another personality", "libc.personality(0x0040000)"],
    ])("calling %s", async (_, call) => {
      expect(await bench().python(`${libc}\nprint(${call}, ctypes.get_errno())`)).toBe("-1 1");
    });

    test("using io_uring, clone3, and other socket families, which appear unsupported", async () => {
      const { python } = bench();
      const missing = `print([(libc.syscall(n, 0, 0), ctypes.get_errno()) for n in (425, 435)])`;
      expect(await python(`${libc}\n${missing}`)).toBe("[(-1, 38), (-1, 38)]");
      const netlink = "import socket; socket.socket(socket.AF_NETLINK, 3)";
      expect(await python(netlink)).toMatch(/Errno 97/);
      expect(await python("import socket; socket.socketpair(); print('fine')")).toBe("fine");
    });

    test("having capabilities or being root", async () => {
      const status = await bench().python("print(open('/proc/self/status').read())");
      expect(status).toMatch(/^CapEff:\t0000000000000000$/m);
      expect(status).toMatch(/^CapBnd:\t0000000000000000$/m);
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
      expect(status).toMatch(/^Seccomp:\t2$/m);
      expect(status).not.toMatch(/^Uid:\t0\t/m);
    });

    test("inheriting descriptors of the toolhost", async () => {
      const code = `
import os
held = {fd: os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if int(fd) > 3 and os.path.exists(f"/proc/self/fd/{fd}")}
print({fd: what for fd, what in held.items() if what != "/dev/null"})`;
      expect(await bench().python(code)).toBe("{}");
    });

    test("writing to a workspace that is mounted read-only", async () => {
      const command = { argv: ["touch", "/workspace/x"], limits: limitsOf(), readOnly: true };
      const { end, text } = await collect(bench().box, command, signal);
      expect(end.code).toBe(1);
      expect(text("stderr")).toContain("Read-only file system");
    });

    test("shadowing modules of the interpreter", async () => {
      const { workspace, box, python } = bench();
      await writeFile(join(workspace, "json.py"), "raise SystemExit('hijacked')");
      expect(await python("import json; print(json.dumps(1))")).toBe("1");
      const outcome = await writeInside(box, "fine.txt", Buffer.from("fine"), signal);
      expect(outcome.kind).toBe("done");
    });
  });
}
