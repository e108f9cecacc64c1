"""Runs inside the sandbox: executes Python code and reports the value of its last expression on descriptor 3."""

import ast
import json
import os
import sys
import traceback

request = json.load(sys.stdin)
code, allowed = request["code"], request["allowed_imports"]
report = os.fdopen(3, "w", encoding="utf-8", closefd=False)


def finish(**fields):
    report.write(json.dumps(fields))
    report.flush()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0 if fields["success"] else 1)


def is_allowed(name):
    return any(name == entry or name.startswith(entry + ".") for entry in allowed)


def refused(tree):
    """The imports that are not on the list. A first check for honest mistakes; the sandbox is the boundary."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if not is_allowed(alias.name)]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level > 0:
                found.append("." * node.level + module)
            elif not is_allowed(module):
                found += [f"{module}.{a.name}" for a in node.names if not is_allowed(f"{module}.{a.name}")]
    return found


def shown(value):
    return value if isinstance(value, str) else repr(value)


try:
    tree = ast.parse(code, "<code>")
except (SyntaxError, ValueError, RecursionError, MemoryError):
    traceback.print_exc(limit=0)
    finish(success=False, result=None)

wrong = refused(tree)
if wrong:
    names = ", ".join(sorted(set(wrong)))
    sys.stderr.write(f"not allowed to import: {names}. Allowed are: {', '.join(allowed)}\n")
    finish(success=False, result=None)

last = None
if tree.body and isinstance(tree.body[-1], ast.Expr):
    last = ast.Expression(tree.body.pop().value)

names = {"__name__": "__main__", "__builtins__": __builtins__}
sys.path.insert(0, "/workspace")
try:
    exec(compile(tree, "<code>", "exec"), names)
    value = eval(compile(last, "<code>", "eval"), names) if last is not None else None
    finish(success=True, result=None if value is None else shown(value))
except SystemExit as leave:
    clean = leave.code is None or leave.code == 0
    finish(success=clean, result=None)
except BaseException as error:
    trace = error.__traceback__.tb_next if error.__traceback__ else None
    traceback.print_exception(type(error), error, trace)
    finish(success=False, result=None)
