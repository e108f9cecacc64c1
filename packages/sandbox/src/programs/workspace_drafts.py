"""Files that are written beside the one whose place they take. Follows workspace_paths.py in its program."""


class Draft:
    """A file without a name until it is whole: of one that is given up, by whatever end of its writer, nothing is left.

    Not every file system has such files. Where there are none it has a name of its own, which a writer that is killed leaves.
    """

    def __init__(self, folder, mode):
        self.folder, self.name = folder, None
        given = 0o644 if mode is None else 0o600
        try:
            fd = os.open(".", os.O_WRONLY | os.O_TMPFILE, given, dir_fd=folder)
        except OSError as error:
            if error.errno not in NAMELESS_UNKNOWN:
                raise
            self.name = draft_name()
            fd = os.open(self.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, given, dir_fd=folder)
        self.file = os.fdopen(fd, "wb")
        if mode is not None:
            os.fchmod(fd, mode)

    def __enter__(self):
        return self

    def put(self, name, look=lambda: None):
        """Takes the place of `name`, unless the last look at it complains. A link there is replaced, never followed."""
        self.file.flush()
        if self.name is None:
            beside = draft_name()
            os.link(f"/proc/self/fd/{self.file.fileno()}", beside, dst_dir_fd=self.folder, follow_symlinks=True)
            self.name = beside
        look()
        os.rename(self.name, name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        self.name = None

    def __exit__(self, *_):
        if self.name is not None:
            os.unlink(self.name, dir_fd=self.folder)
        try:
            self.file.close()
        except OSError:
            # What could not be written any more was complained of when it was to be put, or is not wanted.
            pass


# What kernels and file systems say that do not know files without names.
NAMELESS_UNKNOWN = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT)


def draft_name():
    return f".reeve-{os.urandom(8).hex()}"
