"""Writes wrong allocation problems into a folder, and wrong solutions of `right.csv` below it."""
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
header = "id,lower,upper,size\n"
problems = {
    "bad_number": header + "a,0,2,4\nb,1,3,12x\n",
    "beyond_64_bits": header + "a,0,2,99999999999999999999999\n",
    "control": header + "a,0,2,\x1b[1m\n",
    "cut": header + "a,0,2,4\nb,1\n",
    "cut_in_last": header + "a,0,2,4\nb,1,3,",
    "empty": "",
    "empty_id": header + ",0,2,4\n",
    "fraction": header + "a,0.5,2,4\n",
    "json": "{}",
    "missing_column": "id,lower,upper\na,0,2\n",
    "negative": header + "a,0,2,-4\n",
    "overflow": header + f"a,0,2,{2**60}\nb,3,4,1\n",
    "repeated_column": "id,id,lower,upper,size\n",
    "repeated_id": header + "a,0,2,4\nb,0,2,4\na,4,5,4\n",
    "right": "\ufeffsize, id ,upper,lower\r\n4,a,2,0\r\n\r\n5,b,3,1",
    "upside_down": header + "a,3,3,4\n",
    "unknown_column": "id,lower,upper,size,alignment\n",
    "zeros": "\0" * 1000,
    "bytes": b"\xff\xfe\x00i\xc3(\xe2\x82\xac\xed\xa0\x80\xc2\x9b1m" + b"\xe2\x82\xac" * 100,
    "list": "[1, 2]",
    "number": " 12",
}
header = "id,lower,upper,size,offset\n"
solutions = {
    "changed": header + "a,0,2,5,0\nb,1,3,5,4\n",
    "cut": header + "a,0,2,4,0\n",
    "foreign": header + "a,0,2,4,0\nc,1,3,5,4\n",
    "negative": header + "a,0,2,4,-1\n",
    "overlap": "id,offset\na,0\nb,3\n",
    "right": "id,offset\nb,4\na,0",
    "twice": header + "a,0,2,4,0\na,0,2,4,0\n",
}
(folder / "solutions").mkdir(parents=True)
for place, files in [(folder, problems), (folder / "solutions", solutions)]:
    for name, text in files.items():
        (place / f"{name}.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
