"""Holds a JSON document on standard input against a JSON schema: check_schema.py SCHEMA.json

Knows what docs/report.schema.json is written in, and refuses a schema with anything else. Prints a line a fault with its place, then "ok" or "wrong"
and how many values were looked at.
"""
import json
import pathlib
import sys

KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "properties", "required", "additionalProperties", "items", "minimum", "const", "enum"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool}
FAULTS, SEEN = [], 0


def has_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def check(value, schema, place, root):
    global SEEN
    SEEN += 1
    unknown = set(schema) - KNOWN
    if unknown:
        sys.exit(f"the schema says {sorted(unknown)} at {place}, which is not read here")
    if "$ref" in schema:
        check(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], place, root)
    if "const" in schema and value != schema["const"]:
        FAULTS.append(f"{place} is {value!r}, wanted {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        FAULTS.append(f"{place} is {value!r}, wanted one of {schema['enum']}")
    if "type" in schema and not has_type(value, schema["type"]):
        FAULTS.append(f"{place} is {value!r}, wanted {schema['type']}")
        return
    if "minimum" in schema and value < schema["minimum"]:
        FAULTS.append(f"{place} is {value}, wanted at least {schema['minimum']}")
    if isinstance(value, list):
        for number, item in enumerate(value):
            check(item, schema.get("items", {}), f"{place}[{number}]", root)
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                FAULTS.append(f"{place} has no {name}")
        for name, item in value.items():
            rest = schema.get("additionalProperties", True)
            known = schema.get("properties", {}).get(name, rest)
            if known is False:
                FAULTS.append(f"{place} has {name}, which the schema does not know")
            elif known is not True:
                check(item, known, f"{place}.{name}", root)


def main():
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
    check(json.load(sys.stdin), schema, "report", schema)
    print(*FAULTS, f"{'wrong' if FAULTS else 'ok'} {SEEN}", sep="\n")


main()
