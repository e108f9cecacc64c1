"""Runs code that it reads from standard input as JSON, and reports the result on file descriptor 3. Runs in the sandbox.

It uses the C modules below `ast` and `json`, because importing these two takes longer than most code runs.
"""

import _ast as ast
import _json
import os
import sys
import time

NAME = "<code>"


def forbidden_import(tree, allowed):
    """Returns the first import that is not allowed, or None. This is a lint for well-meaning code, not a security boundary."""

    def permits(module):
        parts = module.split(".")
        return any(".".join(parts[: n + 1]) in allowed for n in range(len(parts)))

    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if not permits(alias.name):
                    return alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level or not permits(module):
                for alias in node.names:
                    name = f"{module}.{alias.name}" if module else alias.name
                    if node.level or not permits(name):
                        return ("." * node.level + (module or alias.name)), node.lineno
        elif isinstance(node, ast.Call):
            target = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if target in ("__import__", "import_module"):
                first = node.args[0] if node.args else None
                name = first.value if isinstance(first, ast.Constant) else None
                if not isinstance(name, str) or not permits(name):
                    return (name if isinstance(name, str) else "a module with a computed name"), node.lineno
    return None


def nodes_of(tree):
    waiting = [tree]
    for node in waiting:
        yield node
        for field in node._fields:
            below = getattr(node, field, None)
            waiting += [each for each in (below if isinstance(below, list) else [below]) if isinstance(each, ast.AST)]


class JsonContext:
    """Settings of the JSON scanner."""

    strict, object_hook, object_pairs_hook = True, None, None
    parse_float, parse_int, parse_constant = float, int, float


def text_of(value):
    if value is None:
        return None
    return value if isinstance(value, str) else repr(value)


def run(code, allowed):
    tree = compile(code, NAME, "exec", ast.PyCF_ONLY_AST)
    found = forbidden_import(tree, set(allowed))
    if found:
        listed = ", ".join(sorted(allowed))
        raise ImportError(f"line {found[1]}: importing {found[0]} is not allowed; allowed modules: {listed}")
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    scope = {"__name__": "__main__", "__builtins__": __builtins__}
    exec(compile(tree, NAME, "exec"), scope)
    return text_of(eval(compile(last, NAME, "eval"), scope)) if last is not None else None


def explain(error, code):
    """Returns the traceback, without the frames of this program."""
    # Imported only on demand, so that code without errors does not wait for it.
    import linecache
    import traceback

    linecache.cache[NAME] = (len(code), None, code.splitlines(True), NAME)
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename != NAME:
        frames = frames.tb_next
    if isinstance(error, ImportError) and frames is None:
        return f"ImportError: {error}\n"
    return "".join(traceback.format_exception(type(error), error, frames))


def main():
    request, _ = _json.make_scanner(JsonContext)(sys.stdin.buffer.read().decode("utf-8", "surrogatepass"), 0)
    os.set_inheritable(3, False)
    sys.stdin = open(os.devnull)
    # Each line is visible immediately, and no printed line is lost if the code exceeds its time limit.
    sys.stdout.reconfigure(line_buffering=True)
    sys.argv = [NAME]
    result, success, started = None, True, time.perf_counter()
    try:
        result = run(request["code"], request["allowed_imports"])
    except SystemExit as leaving:
        success = leaving.code in (None, 0)
        if isinstance(leaving.code, str):
            print(leaving.code, file=sys.stderr)
    except BaseException as error:
        success = False
        sys.stderr.write(explain(error, request["code"]))
    elapsed = (time.perf_counter() - started) * 1000
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    encoded = "null" if result is None else _json.encode_basestring_ascii(result)
    report = f'{{"result": {encoded}, "success": {str(success).lower()}, "execution_time_ms": {elapsed:.3f}}}'
    with open(3, "wb", closefd=False) as channel:
        channel.write(report.encode())
    os._exit(0 if success else 1)


main()
