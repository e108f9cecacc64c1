import { InvalidArgumentError } from "commander";

/** A whole number of at least 1. */
export function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw new InvalidArgumentError("It must be a whole number of at least 1.");
}

/** A sequence: a whole number from 0 on. */
export function parseSequence(text: string): number {
  const sequence = Number(text);
  if (/^\d+$/.test(text) && sequence <= 0xffff_ffff) return sequence;
  throw new InvalidArgumentError("It must be the sequence of an event: 0, 1, 2 …");
}

/** A TCP port. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError("It must be a port from 1 to 65535.");
}
