/** What an index knows of a record without its bytes. */
export interface RowOutline {
  readonly order: string;
  /** -1: a kind that the definition does not name. */
  readonly kind: number;
  /** The measure of the record; 0 without one. */
  readonly amount: number;
  /** Whether the record has all fields of the selection, and not only the first. */
  readonly isSelected: boolean;
}

/** The part of a list between two places that no record has. */
export interface OrderRange {
  /** Only records whose place is greater. Default: all. */
  readonly from?: string | undefined;
  /** Only records whose place is less. Default: all. */
  readonly before?: string | undefined;
}

interface OutlineParts {
  /** The table and the index by which each kind is read in the order of lists. */
  readonly source: string;
  /** What the index finds, besides the kind and the order. */
  readonly conditions: readonly string[];
  /** What else the selected records have. */
  readonly otherConditions: readonly string[];
  readonly kinds: readonly number[];
  readonly hasMeasure: boolean;
  readonly isAscending: boolean;
}

/** Returns the query of the first outlines of a list, which merges one range of an index for each kind. */
export function outlineQuery(
  { source, conditions, otherConditions, kinds, hasMeasure, isAscending }: OutlineParts,
  { from, before }: OrderRange,
): string {
  const wanted = [
    ...conditions,
    ...(from === undefined ? [] : ["position > :from"]),
    ...(before === undefined ? [] : ["position < :before"]),
  ].join(" AND ");
  const isSelected = otherConditions.length === 0 ? "1" : otherConditions.join(" AND ");
  const ranges = kinds.map(
    (kind) => `SELECT position, kind, ${hasMeasure ? "amount" : "0"} AS amount,
      ${isSelected} AS is_selected FROM ${source} WHERE kind = ${kind} AND ${wanted}`,
  );
  const order = isAscending ? "ASC" : "DESC";
  return `${ranges.join(" UNION ALL ")} ORDER BY position ${order} LIMIT :limit`;
}
