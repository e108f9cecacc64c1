package dev.reeve.client;

import com.google.protobuf.Struct;
import dev.reeve.tool.v1.OfferedCall;

/** Executes the calls of the tools that a process offers. It is called in a thread of its own for each call, once. */
@FunctionalInterface
public interface ToolExecutor {
  /** The result of a call: one of both. */
  record Result(String text, Struct structured) {
    /** Returns a result that is text. */
    public static Result of(String text) {
      return new Result(text, null);
    }

    /** Returns a result that is an object, as a tool with an output schema returns it. */
    public static Result of(Struct structured) {
      return new Result(null, structured);
    }
  }

  /**
   * Returns the result of a call. The model reads the message of what this throws. The thread is interrupted when the call needs no
   * answer anymore.
   */
  Result execute(OfferedCall call) throws Exception;
}
