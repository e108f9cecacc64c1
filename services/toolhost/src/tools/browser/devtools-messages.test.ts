import { describe, expect, test } from "vitest";
import { DevtoolsMessages } from "./devtools-messages.ts";

const bytes = (...messages: string[]) => Buffer.from(messages.map((each) => `${each}\0`).join(""));
const event = (method: string, text = "") => `{"method":"${method}","params":"${text}"}`;
const textOf = (messages: readonly Buffer[]) => messages.map((each) => each.toString());

// Requirement: WEB-8
describe("the messages of a browser", () => {
  test("are whole, however they arrive", () => {
    const messages = new DevtoolsMessages(() => 0);
    expect(messages.add(Buffer.from('{"id"'))).toEqual([]);
    expect(textOf(messages.add(bytes(":1}", '{"id":2}')))).toEqual(['{"id":1}', '{"id":2}']);
  });

  test("have no events of the console, and no large ones of the network", () => {
    const large = "x".repeat(300_000);
    const given = [event("Runtime.consoleAPICalled", large), event("Network.a", large)];
    const messages = new DevtoolsMessages(() => 0);
    expect(textOf(messages.add(bytes(...given, event("A.b"))))).toEqual([event("A.b")]);
  });

  test("end with a large event that says what the page is", () => {
    for (const method of ["Page.frameNavigated", "Target.targetInfoChanged", "A.b"]) {
      const messages = new DevtoolsMessages(() => 0);
      expect(() => messages.add(bytes(event(method, "x".repeat(300_000))))).toThrow(/is too long/);
    }
  });

  test("end with an answer that is too large, or with too many events at once", () => {
    const part = Buffer.alloc(16_000_000, "a");
    const large = new DevtoolsMessages(() => 0);
    for (let count = 0; count < 2; count++) large.add(part);
    expect(() => large.add(part)).toThrow("too large");
    let now = 0;
    const many = new DevtoolsMessages(() => now);
    const thousand = bytes(...Array.from({ length: 1_000 }, () => event("A.b")));
    for (let count = 0; count < 60; count++, now += 1_000) many.add(thousand);
    expect(() => {
      for (let count = 0; count < 21; count++) many.add(thousand);
    }).toThrow("too much at once");
  });
});
