import { useId, useState } from "react";

interface HintedInputProps {
  readonly id: string;
  /** Values that the browser offers. */
  readonly hints: readonly string[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A text with suggestions. While a person writes, it keeps what was written, such as a comma at its end. */
export function HintedInput({ id, hints, value, onChange }: HintedInputProps) {
  const list = useId();
  const [written, setWritten] = useState<string | undefined>();
  return (
    <>
      <input
        id={id}
        className="input mono"
        list={list}
        value={written ?? value}
        onChange={(event) => {
          setWritten(event.target.value);
          onChange(event.target.value);
        }}
        onBlur={() => setWritten(undefined)}
      />
      <datalist id={list}>
        {hints.map((hint) => (
          <option key={hint} value={hint} />
        ))}
      </datalist>
    </>
  );
}
