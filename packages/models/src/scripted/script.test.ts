import { describe, expect, test } from "vitest";
import { Failure } from "@reeve/platform/failure";
import { parseScript } from "./script.ts";

const turnsOf = (text: string) =>
  parseScript(text, "weather.yaml").conversations.flatMap(({ turns }) => turns);

function problemsOf(text: string): readonly string[] {
  try {
    parseScript(text, "weather.yaml");
  } catch (error) {
    if (error instanceof Failure) {
      return error.violations.map(({ field, description }) => `${field}: ${description}`);
    }
    throw error;
  }
  return [];
}

describe("a script", () => {
  test("is named after its file unless it has a name", () => {
    expect(parseScript("turns: [{ text: hi }]", "a/weather.yaml").name).toBe("weather");
    expect(parseScript("name: rain\nturns: [{ text: hi }]", "a/weather.yaml").name).toBe("rain");
  });

  test("has turns, each with or without alternatives", () => {
    const turns = turnsOf(
      `
turns:
  - text: Let me look.
    tool_calls: [{ name: forecast, arguments: { city: Bern } }]
  - alternatives:
      - when: { tool: forecast, is_error: true }
        text: None.
      - text: Sunny.
        finish: length
`,
    );
    expect(turns).toEqual([
      [
        {
          when: undefined,
          reasoning: "",
          text: "Let me look.",
          toolCalls: [{ name: "forecast", arguments: { city: "Bern" } }],
          finish: undefined,
          usage: undefined,
          fail: undefined,
        },
      ],
      [
        expect.objectContaining({ when: { tool: "forecast", is_error: true }, text: "None." }),
        expect.objectContaining({ when: undefined, text: "Sunny.", finish: "length" }),
      ],
    ]);
  });

  test("repeats a turn with an anchor", () => {
    const turns = turnsOf(
      `
turns:
  - &again { tool_calls: [{ name: next }] }
  - *again
`,
    );
    expect(turns[1]).toEqual(turns[0]);
  });

  test("is refused with every problem at once, each with its line", () => {
    const problems = problemsOf(`
name: "no spaces"
turns:
  - tool_calls:
      - arguments: { city: Bern }
  - txt: Sunny.
  - alternatives:
      - text: Always.
      - when: { tool: forecast, matches: "(" }
        text: Never.
  - text: Beside.
    alternatives:
      - text: Sunny.
  - when: { is_error: true }
    text: Of which tool?
  - alternatives:
      - text: ""
`);
    expect(problems).toEqual([
      expect.stringMatching(/^name \(line 2\): letters/),
      expect.stringMatching(/^turns\[0\]\.tool_calls\[0\]\.name \(line 5\): /),
      expect.stringMatching(/^turns\[1\] \(line 6\): .*txt/),
      expect.stringMatching(/^turns\[1\] \(line 6\): a turn has text, tool_calls or alternatives/),
      expect.stringMatching(/^turns\[2\]\.alternatives\[1\]\.when\.matches \(line 9\): .*\(/),
      expect.stringMatching(/^turns\[2\]\.alternatives \(line 8\): only the last/),
      expect.stringMatching(
        /^turns\[3\] \(line 11\): a turn with alternatives has no other content/,
      ),
      expect.stringMatching(/^turns\[4\]\.when \(line 14\): name the tool/),
      expect.stringMatching(/^turns\[5\]\.alternatives\[0\] \(line 17\): a turn has text/),
    ]);
  });

  test("is refused when a conversation has no condition, or is never reached", () => {
    const problems = problemsOf(`
conversations:
  - turns: [{ text: hi }]
  - when: {}
    turns: [{ text: ho }]
  - when: { tool: forecast }
    turns: []
`);
    expect(problems).toEqual([
      expect.stringMatching(/^conversations\[1\]\.when \(line 4\): test at least one of/),
      expect.stringMatching(/^conversations\[2\]\.when \(line 6\): .*tool/),
      expect.stringMatching(/^conversations\[2\]\.when \(line 6\): test at least one of/),
      expect.stringMatching(/^conversations\[2\]\.turns \(line 7\): a script has at least one/),
      expect.stringMatching(/^conversations \(line 3\): only the last/),
    ]);
  });

  test("is refused when it tests a result without a tool, or fails for an unknown reason", () => {
    const problems = problemsOf(`
turns:
  - when: { input: x, matches: y }
    text: hi
  - fail: { reason: tired, message: no }
`);
    expect(problems).toEqual([
      expect.stringMatching(/^turns\[0\]\.when \(line 3\): name the tool/),
      expect.stringMatching(/^turns\[1\]\.fail\.reason \(line 5\)/),
    ]);
  });

  test("is refused with the line when it is invalid YAML", () => {
    expect(problemsOf("turns:\n  - text: [oops\n")[0]).toMatch(/^line \d: /);
  });

  test("is refused when it is empty", () => {
    expect(problemsOf("")).toEqual([expect.stringMatching(/^file \(line 1\): /)]);
    expect(problemsOf("turns: []")).toEqual([expect.stringMatching(/at least one turn/)]);
  });
});
