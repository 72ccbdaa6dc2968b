"""Writes arrays without NumPy: npy.py FILE DTYPE SHAPE [NAME]

Zeros of a dtype like <f4 and a shape like 1,3,96,96, as .npy, or as .npz where
NAME is that of its one member.
"""

import struct
import sys
import zipfile


def npy(dtype, shape):
    count = 1
    for d in shape:
        count *= d
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (dtype, tuple(shape))
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            bytes(count * int(dtype[2:])))


path, dtype, shape = sys.argv[1:4]
array = npy(dtype, [int(d) for d in shape.split(",")])
if path.endswith(".npz"):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(sys.argv[4] + ".npy", array)
else:
    with open(path, "wb") as out:
        out.write(array)
