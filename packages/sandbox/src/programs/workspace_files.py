"""Reads and writes single files of the workspace. Concatenated after workspace_drafts.py."""


def read(path, offset, limit, most):
    """Prints lines of a text file unchanged."""
    fd = open_file(path, os.O_RDONLY)
    size = os.fstat(fd).st_size
    if limit is None and offset == 0 and size > most:
        raise Complaint(f"{path} has {size} bytes, but at most {most} can be read; use offset and limit, in lines")
    given = 0
    with os.fdopen(fd, "rb") as file:
        if b"\0" in file.read(PROBE):
            raise Complaint(f"{path} is not a text file")
        file.seek(0)
        number = 0
        while limit is None or number < offset + limit:
            line = file.readline(most + 1)
            if not line:
                break
            number += 1
            if number <= offset:
                while line and not line.endswith(b"\n"):
                    line = file.readline(most + 1)
                continue
            given += len(line)
            if given > most:
                raise Complaint(f"these lines of {path} exceed {most} bytes; request fewer lines")
            sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def write(path):
    """Writes a complete file atomically. Replaces an existing file."""
    parts = parts_of(path)
    if not parts:
        raise Complaint(f"{path} is a folder")
    folder = folder_of(parts[:-1], create=True)
    try:
        # Opened only to check its permissions, which replacing the file must not bypass.
        with os.fdopen(open_in(folder, parts[-1], os.O_WRONLY, path), "wb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o777
    except FileNotFoundError:
        mode = None
    written = 0
    with Draft(folder, mode) as draft:
        while chunk := sys.stdin.buffer.read(1 << 20):
            draft.file.write(chunk)
            written += len(chunk)
        draft.put(parts[-1])
    print(json.dumps({"bytes": written}))


def dump(path):
    with os.fdopen(open_file(path, os.O_RDONLY), "rb") as file:
        while chunk := file.read(1 << 20):
            sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


def edit(path, expected, most):
    """Replaces the first occurrence of a text. The texts are read from standard input, because arguments have a length limit."""
    texts = json.loads(sys.stdin.buffer.read())
    old, new = texts["old_text"].encode(), texts["new_text"].encode()
    parts = parts_of(path)
    if not parts:
        raise Complaint(f"{path} is a folder")
    folder = folder_of(parts[:-1])
    with os.fdopen(open_in(folder, parts[-1], os.O_RDONLY, path), "rb") as file:
        before = os.fstat(file.fileno())
        content = file.read(most + 1)
    if len(content) > most:
        raise Complaint(f"{path} exceeds the {most} bytes that can be edited")
    if b"\0" in content[:PROBE]:
        raise Complaint(f"{path} is not a text file")
    count = content.count(old)
    if count == 0:
        hint = "; its lines end with \\r\\n" if b"\r\n" in content and b"\n" in old else ""
        raise Complaint(f"old_text does not occur in {path}{hint}")
    if expected is not None and count != expected:
        raise Complaint(f"old_text occurs {count} times in {path}, not {expected} times; nothing was changed")
    replace(folder, parts[-1], content.replace(old, new, 1), before, path)
    line = content[: content.index(old)].count(b"\n") + 1
    which = "the only occurrence" if count == 1 else f"the first of {count} occurrences"
    print(f"replaced {which}, at line {line} of {path}")


def replace(folder, name, content, before, path):
    """Replaces a file, unless it was changed since `before`."""
    with Draft(folder, stat.S_IMODE(before.st_mode)) as draft:
        draft.file.write(content)

        def unchanged():
            now = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if (now.st_ino, now.st_size, now.st_mtime_ns) != (before.st_ino, before.st_size, before.st_mtime_ns):
                raise Complaint(f"{path} was changed during the edit; read it again")

        draft.put(name, unchanged)


def inspect(preview):
    """Prints the state, the digest, and the start of each of the files that standard input lists."""
    # Imported only on demand, so that the other operations do not wait for it.
    import hashlib

    def of(path):
        found = {"path": path, "state": "file", "size": 0, "sha256": "", "preview": ""}
        try:
            parts = parts_of(path)
            if not parts or os.path.isdir(os.path.join(ROOT, *parts)):
                return {**found, "state": "folder"}
            with os.fdopen(open_file(path, os.O_RDONLY), "rb") as file:
                start = file.read(PROBE)
                digest = hashlib.sha256(start)
                size = len(start)
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
                    size += len(chunk)
        except (FileNotFoundError, NotADirectoryError):
            return {**found, "state": "absent"}
        except (Complaint, OSError, UnicodeError):
            return {**found, "state": "unreadable"}
        text = "" if b"\0" in start else start[:preview].decode("utf-8", "replace")
        return {**found, "size": size, "sha256": digest.hexdigest(), "preview": text}

    print(json.dumps([of(path) for path in json.loads(sys.stdin.buffer.read())]))


run(read=read, write=write, dump=dump, edit=edit, inspect=inspect)
