import { linked, oldestFirst } from "@reeve/run/head/linked";
import type { Frame, Unit, Units } from "./frame.ts";

export const noUnits: Units = { newest: undefined, length: 0, latestUser: undefined };

export function unitsFrom(units: readonly Unit[]): Units {
  return units.reduce(withUnit, noUnits);
}

/** Appends a unit, in constant time. */
export function withUnit({ newest, length, latestUser }: Units, unit: Unit): Units {
  return {
    newest: linked(newest, unit),
    length: length + 1,
    latestUser: unit.kind === "user" ? length : latestUser,
  };
}

/** Replaces the newest unit by one of the same kind, in constant time. */
export function withNewest(units: Units, unit: Unit): Units {
  return { ...units, newest: linked(units.newest?.before, unit) };
}

/** Returns the units of a frame, oldest first. Takes time in proportion to their number. */
export function unitsOf({ units }: Pick<Frame, "units">): readonly Unit[] {
  return oldestFirst(units.newest);
}
