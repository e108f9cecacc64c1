import type { EdgeSource } from "./edge-sources.ts";

interface SourceChoiceProps {
  readonly label: string;
  /** The text while nothing is chosen. */
  readonly empty: string;
  readonly isDisabled?: boolean;
  readonly sources: readonly EdgeSource[];
  readonly chosen?: EdgeSource;
  readonly onChoose: (source: EdgeSource) => void;
}

/** Chooses an output of another node. */
export function SourceChoice(props: SourceChoiceProps) {
  const { label, empty, isDisabled = false, sources, chosen, onChoose } = props;
  const known = chosen === undefined || sources.some((each) => nameOf(each) === nameOf(chosen));
  const shown = known ? sources : [chosen, ...sources];
  return (
    <select
      className="input mono"
      aria-label={label}
      disabled={isDisabled || shown.length === 0}
      value={chosen === undefined ? "" : nameOf(chosen)}
      onChange={({ target }) => {
        const source = sources.find((each) => nameOf(each) === target.value);
        if (source !== undefined) onChoose(source);
      }}
    >
      {chosen === undefined && (
        <option value="">{shown.length === 0 ? "No node comes before" : empty}</option>
      )}
      {shown.map((source) => (
        <option key={nameOf(source)}>{nameOf(source)}</option>
      ))}
    </select>
  );
}

function nameOf({ source, sourceHandle }: EdgeSource): string {
  return sourceHandle === "" ? source : `${source}.${sourceHandle}`;
}
