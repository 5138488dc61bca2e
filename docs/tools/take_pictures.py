"""Take the pictures of the examples into the gallery, with fewer colours, so that they are small.

``make demo && python docs/tools/take_pictures.py flights_out`` when an example's pictures change; they are committed.
"""

import sys
from pathlib import Path

from PIL import Image

GALLERY = Path(__file__).parents[1] / "_static" / "gallery"
WIDTH, COLOURS = 1200, 64


def main(folder: Path) -> None:
    """Shrink every picture of a folder."""
    GALLERY.mkdir(exist_ok=True)
    for path in sorted(folder.glob("*.png")):
        picture = Image.open(path).convert("RGB")
        height = round(picture.height * WIDTH / picture.width)
        small = picture.resize((WIDTH, height), Image.Resampling.LANCZOS)
        small.quantize(COLOURS).save(GALLERY / path.name, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
