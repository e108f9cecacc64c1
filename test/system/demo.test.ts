import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { playDemo } from "./support/demo-process.ts";
import { markdownRows } from "./support/markdown-tables.ts";

/** Returns the statistics of a column that a report must contain. */
function figuresOf(values: readonly number[]) {
  const sum = values.reduce((total, value) => total + value, 0);
  return { count: values.length, sum, mean: sum / values.length, ...boundsOf(values) };
}

function boundsOf(values: readonly number[]) {
  return { min: Math.min(...values), max: Math.max(...values) };
}

function expectFigures(row: Readonly<Record<string, string>> | undefined, values: number[]): void {
  const figures = Object.entries(figuresOf(values));
  const reported = figures.map(([name]) => [name, Number(row?.[name])]);
  expect(reported).toEqual(figures.map(([name, value]) => [name, expect.closeTo(value, 3)]));
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** Returns the same numbers in each test run, spread over 0 to 1. */
function* spread(): Generator<number, never, undefined> {
  for (let state = 12_345; ;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state / 2_147_483_648;
  }
}

describe.skipIf(process.platform !== "linux")("npm run demo", () => {
  test("summarizes a file with quotes, UTF-8, a byte order mark, and an empty column", async () => {
    const people = [
      { name: 'Zoë "Zo" Müller', city: "Genève, Suisse", visits: 3, paid: 12.5 },
      { name: "李小龍", city: "香港", visits: 12, paid: -0.75 },
      { name: "line\nbreak", city: "Genève, Suisse", visits: 7, paid: 1_000_000.25 },
    ];
    const lines = people.map(({ name, city, visits, paid }) =>
      [quoted(name), quoted(city), visits, "", paid].join(","),
    );
    const csv = `\uFEFFname,city,visits,notes,"paid, in €"\r\n${lines.join("\r\n")}\r\n`;
    const {
      code,
      said,
      report = "",
      left,
    } = await playDemo(["people.csv", "--yes"], {
      "people.csv": csv,
    });
    expect({ code, said }).toMatchObject({ code: 0 });
    const rows = markdownRows(report);
    expect(report).toContain("3 rows, 5 columns");
    expectFigures(
      rows.get("visits"),
      people.map(({ visits }) => visits),
    );
    expectFigures(
      rows.get("paid, in €"),
      people.map(({ paid }) => paid),
    );
    expect(rows.get("city")).toMatchObject({
      distinct: "2",
      "most common": "Genève, Suisse",
      times: "2",
    });
    expect(report).toMatch(/## Empty columns\s+notes/);
    expect(said).toMatch(/^run .*scripted answers/m);
    expect(left).toEqual([]);
  });

  test("summarizes a long file with semicolons and decimal commas", async () => {
    const numbers = spread();
    const measured = Array.from({ length: 5_000 }, (_, index) => ({
      station: ["Nord", "Süd", "Ost"][index % 3] ?? "",
      code: `0${index % 40}`,
      value: Math.round(numbers.next().value * 2_000_000 - 1_000_000) / 1_000,
      depth: index % 7 === 0 ? undefined : index % 90,
    }));
    const lines = measured.map(({ station, code, value, depth }) =>
      [station, code, value.toFixed(3).replace(".", ","), depth ?? ""].join(";"),
    );
    const csv = `station;code;value;depth\n${lines.join("\n")}`;
    const { code, said, report = "", left } = await playDemo(["m.csv", "--yes"], { "m.csv": csv });
    expect({ code, said }).toMatchObject({ code: 0 });
    const rows = markdownRows(report);
    expect(report).toContain("5000 rows, 4 columns");
    expectFigures(
      rows.get("value"),
      measured.map(({ value }) => value),
    );
    const depths = measured.flatMap(({ depth }) => (depth === undefined ? [] : [depth]));
    expectFigures(rows.get("depth"), depths);
    expect(rows.get("station")).toMatchObject({ distinct: "3", "most common": "Nord" });
    // Values with a leading zero are codes, so the column is text.
    expect(rows.get("code")).toMatchObject({ distinct: "40" });
    expect(left).toEqual([]);
  });

  test("publishes nothing when a person rejects it", async () => {
    const { code, said, report, left } = await playDemo(["a.csv", "--no"], {
      "a.csv": "a,b\n1,2\n",
    });
    expect({ code, said }).toMatchObject({ code: 0 });
    expect(report).toBeUndefined();
    expect(said).toContain("No report was published, as you decided.");
    expect(left).toEqual([]);
  });

  test.each([
    ["no.csv", {}, "no.csv does not exist"],
    ["x.csv", { "x.csv": new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0]) }, "x.csv is not a CSV file"],
    ["x.csv", { "x.csv": "a,b\n" }, "the file has a header but no rows"],
  ])("reports why %s with %o cannot be summarized", async (file, files, sentence) => {
    const { code, said, report, left } = await playDemo([file, "--yes"], files);
    expect(said).toContain(sentence);
    expect({ code, report, left }).toEqual({ code: 1, report: undefined, left: [] });
  });

  test("reports the port that is in use, and leaves nothing behind", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    // A TCP listener has an address and a port.
    const { port } = server.address() as AddressInfo;
    const args = ["a.csv", "--yes", "--listen", `127.0.0.1:${port}`];
    const { code, said, left } = await playDemo(args, { "a.csv": "a,b\n1,2\n" });
    server.close();
    expect(said).toContain(
      `cannot listen on 127.0.0.1:${port}: another program uses it; end that program or choose another address, for example any free port with --listen 127.0.0.1:0`,
    );
    expect({ code, left }).toEqual({ code: 1, left: [] });
  });
});
