"""Writes a text, put together from files, as a C array that ends with a 0: embed.py OUT NAME FILE..."""
import sys

out, name, *files = sys.argv[1:]
text = b"\n\n".join(open(file, "rb").read() for file in files) + b"\0"
rows = [text[i : i + 20] for i in range(0, len(text), 20)]
with open(out, "w") as c:
    c.write(f"extern const char {name}[];\nconst char {name}[] = {{\n")
    c.writelines("    " + ", ".join(str(byte) for byte in row) + ",\n" for row in rows)
    c.write("};\n")
