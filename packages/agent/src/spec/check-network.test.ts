import { describe, expect, test } from "vitest";
import { broken, check } from "../../test/check.ts";

const execute = { permissionClasses: ["execute"] };

describe("the network of an agent", () => {
  test("is that of hosts and ports", () => {
    const allow = ["example.org:443", "*.example.org:8443", "203.0.113.7:80"];
    expect(broken({ ...execute, deepAgent: { network: { allow } } })).toEqual([]);
    expect(broken({ deepAgent: { network: { allow: [] } } })).toEqual([]);
  });

  test("is refused for each entry that is none, by its place", () => {
    const allow = ["example.org:443", "example.org", "*:443"];
    expect(broken({ ...execute, deepAgent: { network: { allow } } })).toEqual([
      "deep_agent.network.allow[1]: MALFORMED",
      "deep_agent.network.allow[2]: MALFORMED",
    ]);
  });

  test("is refused to an agent that may not execute anything which could use it", () => {
    const { violations } = check({ deepAgent: { network: { allow: ["example.org:443"] } } });
    expect(violations).toMatchObject([
      {
        field: "deep_agent.network.allow",
        reason: "CLASS_NOT_GRANTED",
        description: expect.stringContaining("the permission class execute") as string,
      },
    ]);
  });

  test("has each entry once, and not too many", () => {
    const twice = ["example.org:443", "example.org:443"];
    expect(broken({ ...execute, deepAgent: { network: { allow: twice } } })).toEqual([
      "deep_agent.network.allow: REPEATED_UNIQUE",
    ]);
    const many = Array.from({ length: 101 }, (_, index) => `h${index}.example.org:443`);
    expect(broken({ ...execute, deepAgent: { network: { allow: many } } })).toEqual([
      "deep_agent.network.allow: REPEATED_MAX_ITEMS",
    ]);
  });
});
