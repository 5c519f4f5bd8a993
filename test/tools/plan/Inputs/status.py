"""Runs a command and fails unless it ends with the exit status wanted: status.py STATUS COMMAND..."""
import subprocess
import sys

wanted, found = int(sys.argv[1]), subprocess.run(sys.argv[2:]).returncode
if found != wanted:
    sys.exit(f"exit status {found}, wanted {wanted}")
