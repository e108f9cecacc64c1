import type { NamedTone } from "../format/names.ts";

/** A state in words, with a mark whose color repeats it. */
export function Badge({ name, tone }: NamedTone) {
  return (
    <span className={`badge tone-${tone}`}>
      <span className="mark" aria-hidden="true" />
      {name}
    </span>
  );
}
