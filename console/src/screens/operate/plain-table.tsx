import type { ReactNode } from "react";

interface PlainTableProps {
  /** What the rows are, for people who cannot see the heading above. */
  readonly label: string;
  /** The names of the columns. A name that begins with `#` is that of a column of numbers. */
  readonly columns: readonly string[];
  readonly children: ReactNode;
}

/** A table of which every row is rendered. */
export function PlainTable({ label, columns, children }: PlainTableProps) {
  return (
    <div className="table-box" role="region" aria-label={label} tabIndex={0}>
      <table className="table">
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column}
                scope="col"
                className={column.startsWith("#") ? "number" : undefined}
              >
                {column.replace(/^#/, "")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
