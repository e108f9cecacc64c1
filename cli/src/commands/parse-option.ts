import { InvalidArgumentError } from "commander";

/** Parses a limit: a whole number of at least 1. */
export function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw new InvalidArgumentError("Use a whole number of at least 1.");
}

/** Parses the sequence of an event: a whole number of at least 0. */
export function parseSequence(text: string): number {
  const sequence = Number(text);
  if (/^\d+$/.test(text) && sequence <= 0xffff_ffff) return sequence;
  throw new InvalidArgumentError("Use the sequence of an event, for example 12.");
}

/** Parses a TCP port. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError("Use a port from 1 to 65535.");
}
