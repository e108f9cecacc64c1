import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { licenseOf } from "./license-of.ts";

function packageWith(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), "reeve-license-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const modules = Object.keys(files).map((name) => join(folder, name));
  return {
    name: "lib",
    version: "1.0.0",
    folder,
    modules: modules.filter((file) => file.endsWith(".js")),
  };
}

test.each(["LICENSE", "licence.md", "UNLICENSE", "COPYING"])("has the text of %s", (name) => {
  const text = licenseOf({ ...packageWith({ [name]: "Do it.\n" }), license: "Unlicense" });
  expect(text).toBe("## lib 1.0.0 (Unlicense)\n\nDo it.\n");
});

test("a package without a file has the texts of all its licenses, with the notices of its code", () => {
  const code =
    "// Copyright 2021-2025 A, Inc.\n/*\n * Copyright 2008 B Inc.  All rights reserved.\n */";
  const text = licenseOf({
    ...packageWith({ "a.js": code }),
    license: "(Apache-2.0 AND BSD-3-Clause)",
  });
  expect(text).toContain(
    "\nCopyright 2008 B Inc.  All rights reserved.\nCopyright 2021-2025 A, Inc.\n",
  );
  expect(text).toContain("Apache License\n");
  expect(text).toContain("Redistribution and use in source and binary forms");
});

test("a package without notices names its author", () => {
  const text = licenseOf({ ...packageWith({}), license: "MIT", author: "Ada" });
  expect(text).toContain("\nCopyright (c) Ada\n\nPermission is hereby granted");
});

test.each([undefined, "GPL-9.0"])(
  "a package without a text for its license %s is refused",
  (license) => {
    expect(() => licenseOf({ ...packageWith({}), license })).toThrow("lib ");
  },
);
