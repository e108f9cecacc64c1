"""Lists and reads files of the workspace for clients. Concatenated after workspace_paths.py. Links are never followed."""

# Maximum size of a page of entries, and size of an entry without its path.
MAX_PAGE_BYTES = 1 << 18
ENTRY_BYTES = 32


def entries(path, recursive, after, most):
    """Prints a page of files and folders as JSON, ordered by the bytes of their paths, and the start of the next page."""
    parts = parts_of(path) if path else []
    prefix = "/".join(parts)
    found = []
    pending = [prefix]
    while pending:
        here = pending.pop()
        try:
            folder = folder_of([part for part in here.split("/") if part])
        except (NotADirectoryError, FileNotFoundError):
            if here == prefix:
                raise Complaint(f"{path} is not a folder") from None
            continue
        except PermissionError:
            continue
        try:
            with os.scandir(folder) as entries_here:
                for entry in entries_here:
                    name = f"{here}/{entry.name}" if here else entry.name
                    found.append((os.fsencode(name), described(entry, name)))
                    if recursive and entry.is_dir(follow_symlinks=False):
                        pending.append(name)
        finally:
            os.close(folder)
    found.sort()
    wanted = [(name, entry) for name, entry in found if name > bytes.fromhex(after)]
    shown, size = [], 0
    for name, entry in wanted[:most]:
        size += len(name) + ENTRY_BYTES
        if shown and size > MAX_PAGE_BYTES:
            break
        shown.append(entry)
    more = len(shown) < len(wanted)
    print(json.dumps({"entries": shown, "next": wanted[len(shown) - 1][0].hex() if more else ""}))


def described(entry, name):
    shown = os.fsencode(name).decode("utf-8", "replace")
    if entry.is_symlink():
        return [shown, "link", 0]
    if entry.is_dir(follow_symlinks=False):
        return [shown, "folder", 0]
    if not entry.is_file(follow_symlinks=False):
        return [shown, "other", 0]
    return [shown, "file", entry.stat(follow_symlinks=False).st_size]


def part(path, offset, most, version):
    """Writes a line of JSON that describes the file, followed by the requested bytes."""
    fd = open_file(path, os.O_RDONLY)
    with os.fdopen(fd, "rb") as file:
        about = os.fstat(fd)
        found = f"{about.st_ino}-{about.st_size}-{about.st_mtime_ns}"
        if version and version != found:
            raise Complaint(f"{path} was changed while it was being read")
        description = json.dumps({"size": about.st_size, "version": found}) + "\n"
        sys.stdout.buffer.write(description.encode())
        file.seek(offset)
        left = most
        while left > 0 and (chunk := file.read(min(left, 1 << 20))):
            sys.stdout.buffer.write(chunk)
            left -= len(chunk)
    sys.stdout.buffer.flush()


run(entries=entries, part=part)
