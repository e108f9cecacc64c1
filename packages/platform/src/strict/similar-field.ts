import type { DescField, DescMessage } from "@bufbuild/protobuf";

/** Shorter names have too many neighbors. */
const minTypoLength = 4;

/** Returns the field whose name differs from `name` only by its spelling, by an `s` at its end, or by one mistyped letter. */
export function similarField({ fields }: DescMessage, name: string): DescField | undefined {
  const plain = name.replaceAll(/[_-]/g, "").toLowerCase();
  const known = fields.map((field) => ({ field, name: field.name.replaceAll("_", "") }));
  const same = known.find((each) => each.name === plain);
  return (same ?? known.find((each) => isTypo(each.name, plain)))?.field;
}

/** Whether one letter is missing, added, replaced, or in the place of its neighbor. */
function isTypo(known: string, given: string): boolean {
  if (known.length < minTypoLength || Math.abs(known.length - given.length) > 1) return false;
  let same = 0;
  while (same < known.length && known[same] === given[same]) same++;
  const [right, wrong] = [known.slice(same), given.slice(same)];
  return (
    right.slice(1) === wrong ||
    right === wrong.slice(1) ||
    right.slice(1) === wrong.slice(1) ||
    (right[0] === wrong[1] && right[1] === wrong[0] && right.slice(2) === wrong.slice(2))
  );
}
