import { expect, test } from "vitest";
import { inputViolations, renderInput } from "./render-input.ts";

/** Returns the placeholders that are refused. */
function refusedIn(input: string, hasBody: boolean) {
  return inputViolations(input, hasBody).map(({ description }) => description.split(" ")[0]);
}

const values = { triggerId: "nightly", timeMs: 0, body: undefined };

test("placeholders of a schedule are replaced", () => {
  expect(renderInput("{{ time }} by {{trigger_id}}", values)).toBe(
    "1970-01-01T00:00:00.000Z by nightly",
  );
});

test.each([
  ["{{body.issue.title}}", "Broken"],
  ["{{body.issue.labels[1].name}}", "ui"],
  ["{{body.issue.labels}}", '[{"name":"bug"},{"name":"ui"}]'],
  ["{{body.count}}", "2"],
  ["none:{{body.nothing}}{{body.issue.labels[9]}}{{body.gone.deeper}}", "none:"],
  ["none:{{body.__proto__}}{{body.constructor}}{{body.issue.title.length}}", "none:"],
])("%s of a body is %j", (input, expected) => {
  const issue = { title: "Broken", labels: [{ name: "bug" }, { name: "ui" }] };
  const body = JSON.stringify({ issue, count: 2, nothing: null });
  expect(renderInput(input, { ...values, body })).toBe(expected);
});

test("numbers of a body stay as they are written", () => {
  const body = '{"id":12345678901234567890,"list":[1e2,{"x":0.10}],"n":3}';
  const input = "{{body.id}} {{body.list}} {{body.n}} {{body.list[1].x}}{{body.id.rawJSON}}";
  expect(renderInput(input, { ...values, body })).toBe(
    '12345678901234567890 [1e2,{"x":0.10}] 3 0.10',
  );
});

test("a body that is no JSON is inserted as a whole, and has no members", () => {
  expect(renderInput("{{body}}|{{body.a}}", { ...values, body: "a=1" })).toBe("a=1|");
});

test("a placeholder in a value is no placeholder", () => {
  const body = JSON.stringify({ a: "{{trigger_id}} $& $1" });
  expect(renderInput("{{body.a}}", { ...values, body })).toBe("{{trigger_id}} $& $1");
});

test("unknown placeholders are refused, and those of a body in a schedule", () => {
  expect(refusedIn("{{time}} {{body.a}} {{now}} {{now}}", false)).toEqual([
    "{{body.a}}",
    "{{now}}",
  ]);
  expect(refusedIn("{{body}} {{body.a[0].b}} {{body..a}} {{body[x]}}", true)).toEqual([
    "{{body..a}}",
    "{{body[x]}}",
  ]);
});

test.each(["{{", "{{body", "{{ {{"])("%j and 64 KiB of spaces are looked at once", (start) => {
  const input = `${start}${" ".repeat(65_536)}`;
  expect(refusedIn(input, true)).toEqual([]);
  expect(renderInput(input, { ...values, body: "{}" })).toBe(input);
});

test("an input that would be longer than that of a run is refused while it is rendered", () => {
  const body = JSON.stringify("x".repeat(200_000));
  expect(renderInput("{{body}}", { ...values, body })).toHaveLength(200_002);
  expect(() => renderInput("{{body}}".repeat(8_000), { ...values, body })).toThrow(/262144 bytes/);
});

/** Returns an object with lists in lists. */
function nested(levels: number): string {
  return `{"a":${"[".repeat(levels)}"[{["${"]".repeat(levels)}}`;
}

test("JSON that is nested too deep is refused, if its values are inserted", () => {
  expect(renderInput("{{body.a}}", { ...values, body: nested(63) })).toContain("[{[");
  const body = nested(100_000);
  expect(() => renderInput("{{body.a}}", { ...values, body })).toThrow(/nested deeper than 64/);
  expect(renderInput("{{body}}", { ...values, body })).toBe(body);
});

test.each([`"${"a".repeat(262_000)}`, `"${'\\"'.repeat(131_000)}`, '"'.repeat(262_000)])(
  "a body that is not JSON is read once",
  (body) => {
    expect(renderInput("x{{body.a}}", { ...values, body })).toBe("x");
  },
);

test("an input without any text is refused", () => {
  expect(() => renderInput("{{body.gone}}", { ...values, body: "{}" })).toThrow(/is empty/);
});
