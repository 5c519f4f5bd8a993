"""Runs every command of a page and looks for the lines that stand below it in what it prints, in order.

    napkin_math_page.py PAGE ROOT

Runs of blanks count as one. A line that begins with NOTE or a word may stand anywhere in a line of the output. Prints
what is missing, then "ok" or "wrong", and how many commands ran.
"""
import pathlib
import re
import subprocess
import sys


def squeezed(text):
    return re.sub(r"[ \t]+", " ", text)


def words_of(command):
    """The command's words; brackets are no syntax here."""
    return command.split()


def main():
    page, root = pathlib.Path(sys.argv[1]), sys.argv[2]
    missing, commands = [], 0
    for block in re.findall(r"^```\n(.*?)^```", page.read_text(), re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *lines = part.rstrip("\n").split("\n")
            commands += 1
            result = subprocess.run(words_of(command), capture_output=True, text=True, cwd=root)
            output = squeezed(result.stdout)
            if result.returncode or not lines:
                missing.append(f"{command}: {result.stderr[-500:]}")
            place = 0
            for line in lines:
                found = output.find(squeezed(line), place)
                if found < 0:
                    missing.append(f"{command}: no line has '{line}'")
                else:
                    place = found + len(squeezed(line))
    print(*missing, f"{'wrong' if missing else 'ok'} {commands}", sep="\n")


main()
