import { networkInterfaces } from "node:os";
import { describe, expect, test } from "vitest";
import { AddressGuard } from "./address-guard.ts";

const guard = new AddressGuard([]);

describe("an MCP server", () => {
  test.each([
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "::1",
    "::",
    "169.254.169.254",
    "fe80::1",
    "fd00:ec2::254",
    "100.100.100.200",
    "168.63.129.16",
    "224.0.0.1",
    "255.255.255.255",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "::ffff:0:7f00:1",
    "2002:7f00:1::",
  ])("is not reached at %s", (address) => {
    expect(guard.permits(address)).toBe(false);
  });

  test.each(["93.184.215.14", "10.1.2.3", "192.168.1.1", "2606:4700::1111", "fd00::1"])(
    "is reached at %s",
    (address) => {
      expect(guard.permits(address)).toBe(true);
    },
  );

  test("is reached at an address that its operator allows, and at no other blocked one", () => {
    const opened = new AddressGuard(["127.0.0.1", "169.254.10.0/24"]);
    expect(opened.permits("127.0.0.1")).toBe(true);
    expect(opened.permits("127.0.0.2")).toBe(false);
    expect(opened.permits("169.254.10.7")).toBe(true);
    expect(opened.permits("169.254.169.254")).toBe(false);
  });

  test("is not reached at a current address of this host unless its operator allows it", () => {
    let addresses = ["203.0.113.7", "2001:db8::7"];
    const own = () => addresses;
    const [closed, opened] = [["198.51.100.0/24"], ["203.0.113.0/24"]].map(
      (allowed) => new AddressGuard(allowed, [], own),
    );
    for (const address of ["203.0.113.7", "::ffff:203.0.113.7", "2001:db8::7"]) {
      expect(closed?.permits(address)).toBe(false);
    }
    expect(closed?.permits("203.0.113.8")).toBe(true);
    expect(opened?.permits("203.0.113.7")).toBe(true);
    expect(opened?.permits("2001:db8::7")).toBe(false);
    addresses = ["203.0.113.8"];
    expect(closed?.permits("203.0.113.7")).toBe(true);
    expect(closed?.permits("203.0.113.8")).toBe(false);
  });

  test("is not reached at the addresses of this host's interfaces", () => {
    const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    expect(own.filter(({ address }) => guard.permits(address))).toEqual([]);
  });

  test.each([
    "http://127.0.0.1/mcp",
    "http://[::1]:80/",
    "http://0x7f000001/",
    "http://2130706433/",
  ])("is not reached by %s", (url) => {
    expect(() => guard.assertUrl(new URL(url))).toThrow(/is not permitted/);
  });

  test("is not reached by a name that resolves to this host", async () => {
    const { promise, resolve } = Promise.withResolvers<Error | null>();
    guard.lookup("localhost", { all: true }, (error) => resolve(error));
    expect(String(await promise)).toMatch(/localhost is at (127\.0\.0\.1|::1), which is not/);
  });

  test("is not reached by a name of which any address is forbidden, wherever it stands", async () => {
    const permitted = { address: "93.184.216.34", family: 4 };
    const forbidden = { address: "169.254.169.254", family: 4 };
    for (const addresses of [
      [permitted, forbidden],
      [forbidden, permitted],
    ]) {
      const mixed = new AddressGuard(
        [],
        [],
        () => [],
        (_name, _options, reply) => {
          reply(null, addresses);
        },
      );
      const { promise, resolve } = Promise.withResolvers<Error | null>();
      mixed.lookup("mixed.example", { all: false }, (error) => resolve(error));
      expect(String(await promise)).toContain("mixed.example is at 169.254.169.254, which is not");
    }
  });
});
