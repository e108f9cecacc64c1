import { describe, expect, test } from "vitest";
import { bwrapArguments } from "./spec.ts";

const settings = {
  workspaceDir: "/data/run_1",
  readOnly: false,
  agent: ["/usr/bin/python3", "-I"],
  system: {
    folders: ["/usr"],
    links: [{ from: "/bin", to: "usr/bin" }],
    files: ["/etc/ld.so.cache"],
  },
};

/** Returns the arguments, one option with its values each. */
function optionsOf(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return args
    .slice(0, end)
    .join(" ")
    .split(/ (?=--)/);
}

// Requirement: KIT-8
describe("a sandbox of bubblewrap", () => {
  test("has exactly these options: each prevents an attack", () => {
    expect(optionsOf(bwrapArguments(settings))).toEqual([
      "--unshare-all",
      "--unshare-user",
      "--disable-userns",
      "--die-with-parent",
      "--as-pid-1",
      "--new-session",
      "--hostname sandbox",
      "--clearenv",
      "--setenv PATH /usr/local/bin:/usr/bin:/bin",
      "--setenv HOME /workspace",
      "--setenv TMPDIR /tmp",
      "--setenv LANG C.UTF-8",
      "--ro-bind /usr /usr",
      "--symlink usr/bin /bin",
      "--ro-bind /etc/ld.so.cache /etc/ld.so.cache",
      "--proc /proc",
      "--ro-bind /proc/sys /proc/sys",
      "--dev /dev",
      "--size 67108864",
      "--tmpfs /dev/shm",
      "--remount-ro /dev",
      "--size 268435456",
      "--tmpfs /tmp",
      "--bind /data/run_1 /workspace",
      "--chdir /workspace",
      "--info-fd 4",
      "--block-fd 5",
      "--cap-drop ALL",
      "--seccomp 3",
      "--remount-ro /",
    ]);
  });

  test("runs the agent and nothing else", () => {
    const args = bwrapArguments(settings);
    expect(args.slice(args.indexOf("--") + 1)).toEqual(settings.agent);
  });

  test("sees its workspace read-only if it may only read", () => {
    const options = optionsOf(bwrapArguments({ ...settings, readOnly: true }));
    expect(options).toContain("--ro-bind /data/run_1 /workspace");
    expect(options.some((option) => option.startsWith("--bind"))).toBe(false);
  });

  test("sees the folder of its proxy read-only if it has a network", () => {
    const options = optionsOf(bwrapArguments({ ...settings, proxyDir: "/run/proxy" }));
    expect(options.filter((option) => option.includes("/run/proxy"))).toHaveLength(1);
    expect(options.some((option) => option.startsWith("--ro-bind /run/proxy "))).toBe(true);
  });
});
