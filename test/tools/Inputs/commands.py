"""Runs commands of napkin on one model, for the scripts that compare what several of them say."""
import subprocess
import sys


class Napkin:
    """`napkin COMMAND MODEL FLAGS`, whose status must be the one wanted."""

    def __init__(self, program, model):
        self.program, self.model = program, model

    def run(self, command, *flags, status=0):
        done = subprocess.run([self.program, command, *self.model, *map(str, flags)], capture_output=True, text=True)
        if done.returncode != status:
            sys.exit(f"{command} {flags}: status {done.returncode}, wanted {status}: {done.stderr}")
        return done
