import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Todo } from "@reeve/contracts/run";
import { TodoSchema, TodoStatus } from "@reeve/contracts/run";
import type { RunState } from "../state/run-state.ts";
import type { RuntimeToolResult } from "./runtime-tool-result.ts";
import { numberArgument, errorResult, successResult, textArgument } from "./runtime-tool-result.ts";

const maxTodos = 100;
const maxCharacters = 2_000;

const statuses = {
  pending: TodoStatus.PENDING,
  in_progress: TodoStatus.IN_PROGRESS,
  completed: TodoStatus.COMPLETED,
} as const;

export function addTodo({ todos }: RunState, args: JsonObject): RuntimeToolResult {
  const text = textArgument(args, "text").trim();
  if (text === "" || text.length > maxCharacters) {
    return errorResult(`a todo has 1 to ${maxCharacters} characters; this one has ${text.length}`);
  }
  if (todos.length >= maxTodos)
    return errorResult(`the list already has ${maxTodos} todos, its maximum; add no more todos`);
  const todo = create(TodoSchema, { id: todos.length + 1, text, status: TodoStatus.PENDING });
  return changed([...todos, todo]);
}

export function listTodos({ todos }: RunState): RuntimeToolResult {
  return successResult(JSON.stringify(todos.map(shown)));
}

export function updateTodoStatus({ todos }: RunState, args: JsonObject): RuntimeToolResult {
  const status = Object.entries(statuses).find(([name]) => name === args["status"])?.[1];
  if (status === undefined) return errorResult(`a todo is ${Object.keys(statuses).join(", ")}`);
  return setStatus(todos, numberArgument(args, "id"), status);
}

export function completeTodo({ todos }: RunState, args: JsonObject): RuntimeToolResult {
  return setStatus(todos, numberArgument(args, "id"), TodoStatus.COMPLETED);
}

function setStatus(
  todos: readonly Todo[],
  id: number | undefined,
  status: TodoStatus,
): RuntimeToolResult {
  if (!todos.some((todo) => todo.id === id)) {
    return errorResult(`there is no todo ${id}; there are ${todos.length}, numbered from 1`);
  }
  const busy = todos.find((todo) => todo.status === TodoStatus.IN_PROGRESS && todo.id !== id);
  if (status === TodoStatus.IN_PROGRESS && busy !== undefined) {
    return errorResult(`todo ${busy.id} is in progress; complete it or set it back first`);
  }
  return changed(
    todos.map((todo) => (todo.id === id ? create(TodoSchema, { ...todo, status }) : todo)),
  );
}

function changed(todos: readonly Todo[]): RuntimeToolResult {
  return successResult(JSON.stringify(todos.map(shown)), {
    case: "todosChanged",
    value: { todos: [...todos] },
  });
}

function shown({ id, text, status }: Todo): JsonObject {
  const [name = "pending"] = Object.entries(statuses).find(([, value]) => value === status) ?? [];
  return { id, text, status: name, done: status === TodoStatus.COMPLETED };
}
