"""The test format of lit.cfg.py; a module of its own, for lit's workers load it by name."""
import copy
import pathlib
import re
import shutil

import lit.formats


class NapkinTest(lit.formats.ShTest):
    """A shell test with a home folder of its own, so that no user's cache or settings are read."""

    def __init__(self, plain_tests):
        super().__init__(execute_external=False)
        self.plain_tests = plain_tests

    def getTestsInDirectory(self, *args):
        for test in super().getTestsInDirectory(*args):
            if self.plain_tests is None or self.isPlain(test.getSourcePath()):
                yield test

    def isPlain(self, path):
        """True where the RUN lines call a plain program and none of the MLIR tools."""
        text = pathlib.Path(path).read_text(errors="replace")
        words = set()
        for line in re.findall(r"RUN:(.*)", text):
            words.update(re.findall(r"[\w-]+", line))
        return bool(words & self.plain_tests) and not words & {"napkin", "napkin-opt"}

    def execute(self, test, litConfig):
        home = pathlib.Path(test.getExecPath() + ".home")
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        test.config = copy.copy(test.config)
        test.config.environment = {**test.config.environment, "HOME": str(home)}
        return super().execute(test, litConfig)
