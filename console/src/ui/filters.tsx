import type { ReactNode } from "react";
import { hasValues } from "../loading/only-known.ts";

/** A row of filters of a list. */
export function Filters({ children }: { readonly children: ReactNode }) {
  return (
    <div className="filters" role="group" aria-label="Filters">
      {children}
    </div>
  );
}

interface FilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
}

interface FilterTextProps extends FilterProps {
  /** Default: the label. */
  readonly placeholder?: string;
  readonly type?: "text" | "search";
}

export function FilterText({
  label,
  value = "",
  placeholder = label,
  type = "text",
  onChange,
}: FilterTextProps) {
  return (
    <input
      className="input"
      type={type}
      aria-label={label}
      placeholder={placeholder}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

interface FilterChoiceProps extends FilterProps {
  /** The choice that filters nothing. */
  readonly all: string;
  readonly choices: readonly { readonly value: string; readonly name: string }[];
}

/** A value to choose. One that is chosen and no longer offered stays. */
export function FilterChoice({ label, all, value = "", choices, onChange }: FilterChoiceProps) {
  const isListed = value === "" || choices.some((choice) => choice.value === value);
  return (
    <select
      className="input"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{all}</option>
      {!isListed && <option value={value}>{value}</option>}
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.name}
        </option>
      ))}
    </select>
  );
}

/** Removes all filters; absent if there are none. */
export function ClearFilters({
  search,
  onClear,
}: {
  readonly search: object;
  readonly onClear: () => void;
}) {
  if (!hasValues(search)) return null;
  return (
    <button type="button" className="button quiet" onClick={onClear}>
      Clear
    </button>
  );
}
