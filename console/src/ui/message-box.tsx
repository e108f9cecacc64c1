import { Icon } from "./icons.tsx";

interface MessageBoxProps {
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  readonly isBusy: boolean;
  readonly onChange: (text: string) => void;
  readonly onSend: () => void;
}

/** A box for a message. Enter sends it, Shift+Enter begins a new line. */
export function MessageBox(props: MessageBoxProps) {
  const { label, placeholder, text, isBusy, onChange, onSend } = props;
  const isReady = text.trim() !== "" && !isBusy;
  return (
    <form
      className="message-box"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) onSend();
      }}
    >
      <textarea
        aria-label={label}
        placeholder={placeholder}
        rows={Math.min(8, text.split("\n").length)}
        value={text}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          if (isReady) onSend();
        }}
      />
      <button type="submit" className="button primary" disabled={!isReady}>
        <Icon name="send" />
        Send
      </button>
    </form>
  );
}
