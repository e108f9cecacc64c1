import type { ReactNode } from "react";
import { useId } from "react";

interface FieldProps {
  readonly label: string;
  readonly about?: string;
  /** What is wrong with the value. Undefined: nothing is known. */
  readonly problem?: string | undefined;
  readonly children: (id: string) => ReactNode;
}

/** A field of the form, with what is wrong with it. */
export function Field({ label, about = "", problem, children }: FieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {problem !== undefined && <span className="hint bad">{`${label}: ${problem}`}</span>}
      {about !== "" && <span className="hint">{about}</span>}
    </div>
  );
}
