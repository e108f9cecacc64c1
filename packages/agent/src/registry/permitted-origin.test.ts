import { expect, test } from "vitest";
import { isPermittedOrigin, originProblem } from "./permitted-origin.ts";

// Requirement: CFG-18
test.each([
  ["https://models.example.org/v1", true],
  ["https://models.example.org:443/v1", true],
  ["https://a.eu.example.com", true],
  ["http://127.0.0.1:8000/v1", true],
  ["http://models.example.org/v1", false],
  ["https://models.example.org:8443/v1", false],
  ["https://models.example.org.evil.net", false],
  ["https://models.example.org@evil.net", false],
  ["https://eu.example.com", false],
  ["https://aeu.example.com", false],
  ["http://127.0.0.1:8001/v1", false],
  ["http://0x7f000001:8000/v1", true],
  ["http://169.254.169.254/latest", false],
  ["file:///etc/passwd", false],
  ["not a URL", false],
])("%s is at a permitted origin: %s", (address, isPermitted) => {
  const origins = [
    "https://models.example.org",
    "https://*.eu.example.com",
    "http://127.0.0.1:8000",
  ];
  expect(isPermittedOrigin(address, origins)).toBe(isPermitted);
});

test.each(["https://models.example.org", "https://*.example.org", "http://10.0.0.7:8000"])(
  "the origin %s can be listed",
  (origin) => {
    expect(originProblem(origin)).toBeUndefined();
  },
);

test.each([
  ["https://*", "must be an origin"],
  ["https://*.org", "two labels"],
  ["https://*.127.0.0.1", "two labels"],
  ["https://a.*.org", "must be an origin"],
  ["models.example.org", "must be an origin"],
  ["ftp://models.example.org", "must be an origin"],
  ["https://models.example.org/v1", "no path"],
  ["https://user@models.example.org", "no path"],
])("the origin %s cannot be listed: %s", (origin, problem) => {
  expect(originProblem(origin)).toContain(problem);
});
